"""Every case at a memory in this process: with kills, clocks, and volumes that do not open again.

Where a stack would kill the memory, the files of its volume are kept as they are at that moment,
and it is started on those: what it would only write later, or at a proper end, is lost.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from memqual.v1 import vendor_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    UNANSWERED,
    Answer,
    ContractBreach,
    PassTime,
    Phase,
    Restart,
    Strike,
    Want,
)
from services.common import clock
from services.common.settings import SettingsError
from services.memory.process import Composition
from tests.orchestrator.suites.integrity.fire_ground import FireGround
from tests.orchestrator.suites.integrity.played import CALL_SECONDS, Playground, playground

A_MOMENT_NS = 1_000_000
LOOK_SECONDS = 0.001

# Shared memory of a database that nobody has open any more.
NOT_KEPT = "-shm"


class Clock:
    """The wall clock of a memory in this process; the monotonic one is everybody's."""

    ahead_ns = 0

    monotonic_ns = staticmethod(time.monotonic_ns)

    def time_ns(self) -> int:
        """Nanoseconds since the Unix epoch, by a clock that may have jumped."""
        return time.time_ns() + self.ahead_ns


class WholeGround(FireGround):
    """Stands for a whole stack.

    Attributes:
        clock: The memory's clock.
    """

    clock: Clock
    _image: dict[str, bytes] | None = None

    def close(self) -> None:
        """Stop it, and keep the volume as it is before anything is put in order."""
        self._image = self._image or self._files()
        super().close()

    def _answer(self, namespace: str, want: Want) -> Answer:
        match want:
            case PassTime():
                asked = vendor_pb2.NowRequest()
                now = self._session.memory.vendor.Now(asked, timeout=CALL_SECONDS).clock
                missing_ns = want.until_unix_ns + A_MOMENT_NS - now.wall_unix_ns
                self.clock.ahead_ns += max(0, missing_ns)
                return Answer(OK)
            case _:
                return super()._answer(namespace, want)

    def _struck(self, namespace: str, want: Strike) -> Answer:
        """As on any ground, and killed as soon as the volume changes where it is underway."""
        if want.phase is not Phase.UNDERWAY:
            return super()._struck(namespace, want)
        before = self._changed()
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(Playground._answer, self, namespace, want.ask)
            while self._changed() == before and not call.done():
                time.sleep(LOOK_SECONDS)
            answered = call.done()
            image = self._files()
            given = call.result(CALL_SECONDS)
        self._image = image
        super()._answer(namespace, Restart(want.step))
        return given if answered else Answer(UNANSWERED)

    def _start(self) -> None:
        if self._image is not None:
            self._write(self._image)
        self._image = None
        try:
            super()._start()
        except SettingsError as error:
            self._write({})
            super()._start()
            cause = f"the memory does not start again on its own volume: {error}"
            raise ContractBreach("start", cause) from error

    def _changed(self) -> dict[str, tuple[int, int]]:
        """What tells whether anything was written since."""
        stats = {file.name: file.stat() for file in self.volume.iterdir()}
        return {name: (found.st_size, found.st_mtime_ns) for name, found in stats.items()}

    def _files(self) -> dict[str, bytes]:
        """Every file; the database before its log, which has what the other lacks."""
        files = sorted(file for file in self.volume.iterdir() if not file.name.endswith(NOT_KEPT))
        return {file.name: file.read_bytes() for file in files}

    def _write(self, files: dict[str, bytes]) -> None:
        for file in self.volume.iterdir():
            file.unlink()
        for name, content in files.items():
            (self.volume / name).write_bytes(content)


@contextmanager
def whole_ground(folder: Path, composition: Composition) -> Iterator[WholeGround]:
    """A memory in this process whose clock can be set."""
    shifted = Clock()
    with (
        mock.patch.object(clock, "time", shifted),
        playground(folder, composition, kind=WholeGround) as ground,
    ):
        assert isinstance(ground, WholeGround)
        ground.clock = shifted
        yield ground
