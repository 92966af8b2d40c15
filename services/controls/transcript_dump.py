"""Answers every question with everything that was said: right by substring, and of no use."""

from pathlib import Path

from services.common.database import Database
from services.controls import plain_turns
from services.controls.plain_narrative import Plain, PlainEvaluated

__all__ = ["TranscriptDump", "create", "open_part"]


class TranscriptDump:
    """All turns of the speaker, or of everybody, in the order of their times."""

    def __init__(self, database: Database) -> None:
        """Answers from a database whose table the part makes."""
        self._database = database

    def ingest(self, namespace: str, speaker: str, time: str, text: str) -> None:
        """Takes a turn; durable when it returns."""
        with self._database.transaction() as conn:
            plain_turns.keep(conn, namespace, speaker, time, text)

    def ask(self, namespace: str, question: str, speaker: str) -> str:
        """Everything."""
        with self._database.read() as conn:
            return "\n".join(turn.text for turn in plain_turns.load(conn, namespace, speaker))

    def chunks(self, namespace: str) -> tuple[str, ...]:
        """Nothing is made of the turns."""
        return ()


def create(database: Database) -> Plain:
    """The narrative part that dumps transcripts; raises DatabaseError."""
    return Plain(database, TranscriptDump, "none", "Answers with all turns of the speaker.")


def open_part(folder: Path) -> PlainEvaluated:
    """The part on a new folder, for `tests.orchestrator.suites.narrative.evaluate`."""
    return PlainEvaluated(folder, create)
