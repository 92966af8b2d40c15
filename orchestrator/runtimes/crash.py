"""What to say of a service that ended by itself, in either runtime."""

from __future__ import annotations

from orchestrator.errors import ImageError, MemqualError, StackError

__all__ = ["CRASH_LOG_LINES", "crash_error"]

# Enough for the end of a traceback.
CRASH_LOG_LINES = 15


def crash_error(
    service: str, exit_code: int, log_tail: str, *, oom_killed: bool = False, image: str = ""
) -> MemqualError:
    """What to say of a service that ended by itself; its last lines say more than we can."""
    lines = log_tail.strip() or "(it wrote nothing)"
    if "exec format error" in log_tail.lower():
        return ImageError(
            f"The image {image} of {service!r} is for another kind of machine: {lines}",
            next_step="Build it for the engine's architecture (docker version shows it).",
        )
    if oom_killed:
        return StackError(
            f"The service {service!r} was ended by the kernel for want of memory:\n{lines}",
            next_step="Give it more: `resources: {memory: …}` in the vendor.yaml.",
        )
    return StackError(
        f"The service {service!r} ended by itself with exit code {exit_code}:\n{lines}",
        next_step="Mend what its last lines say; vendor.yaml has command, port, environment.",
    )
