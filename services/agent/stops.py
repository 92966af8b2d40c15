"""Why a run of the graph stops before its end.

    Exception
    ├── langgraph.errors.GraphBubbleUp
    │   └── RunStopped              the node stops, its step stays to be done
    │       ├── Parked              the memory said WAIT, or too many decisions in one wake-up
    │       ├── Rejected            the memory said REJECT
    │       └── Failed              the host cannot go on; carries status code and cause
    └── ConfirmationNeeded          the memory said CONFIRM; the node turns it into an interrupt

GraphBubbleUp makes LangGraph leave the checkpoint as it is: no error is written into it, and the
step is done again by the next wake-up.
"""

import grpc
from langgraph.errors import GraphBubbleUp

__all__ = ["ERROR_BYTES", "ConfirmationNeeded", "Failed", "Parked", "Rejected", "RunStopped"]

ERROR_BYTES = 1_024


class RunStopped(GraphBubbleUp):
    """The run stops inside a node; its step is still to be done."""


class Parked(RunStopped):
    """The memory asks to wait.

    Attributes:
        remaining_ms: milliseconds that it asks to wait; 0 when the host itself stopped asking.
    """

    def __init__(self, remaining_ms: int) -> None:
        super().__init__(f"parked for {remaining_ms} ms")
        self.remaining_ms = remaining_ms


class Rejected(RunStopped):
    """The memory rejects the operation as it is specified."""


class Failed(RunStopped):
    """The host cannot go on.

    Attributes:
        error: status code and cause, at most 1,024 bytes; never content.
    """

    def __init__(self, code: grpc.StatusCode, cause: str) -> None:
        self.error = f"{code.name}: {cause}".encode()[:ERROR_BYTES].decode(errors="ignore")
        super().__init__(self.error)


class ConfirmationNeeded(Exception):
    """Only a person can tell.

    Attributes:
        operation_id: the operation that needs confirmation.
    """

    def __init__(self, operation_id: str) -> None:
        super().__init__(f"{operation_id} needs confirmation")
        self.operation_id = operation_id
