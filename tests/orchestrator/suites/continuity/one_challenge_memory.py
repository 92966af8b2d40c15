"""A good memory that keeps one challenge of an operation open, for a year, and issues no other.

Run as a process in the reference's place, by `python -m` and this module's name.
"""

import grpc

from memqual.v1 import common_pb2
from services.common import logging, settings
from services.common.errors import ServiceError
from services.memory import process, resolutions
from services.memory.operations import require
from services.memory.resolutions import Resolutions

YEAR_SECONDS = 365 * 86_400
OPEN = """
SELECT challenge FROM resolve_challenges
WHERE used = 0 AND operation_key = ? AND attempt = ?
"""


class OneChallenge(Resolutions):
    """Another challenge is issued when the last one was answered, has ended or was superseded."""

    def request(self, namespace: str, operation_id: str, principal: str) -> common_pb2.Challenge:
        """As the reference, where none is open."""
        with self._database.transaction() as conn:
            clock = self._clock(conn)
            stored = require(conn, namespace, operation_id)
            latest = stored.operation.latest
            rows = conn.execute(OPEN, (stored.operation_key, latest.attempt if latest else 0))
            issued = [common_pb2.Challenge.FromString(row[0]) for row in rows]
        if any(not self.is_over(one, clock) for one in issued):
            raise ServiceError(
                grpc.StatusCode.FAILED_PRECONDITION, "a challenge is open; answer that one"
            )
        return super().request(namespace, operation_id, principal)


def main() -> None:
    """Serves it until SIGTERM."""
    logging.configure("memory")
    setattr(resolutions, "CHALLENGE_SECONDS", YEAR_SECONDS)  # noqa: B010 (a constant)
    process.run(process.Composition("one-challenge", resolutions=OneChallenge))


if __name__ == "__main__":
    settings.run(main)
