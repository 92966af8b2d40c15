"""Cases under fire at a memory in this process: it is restarted where a stack would kill it."""

from orchestrator.suites.integrity.calls import (
    OK,
    UNANSWERED,
    Answer,
    Ask,
    Phase,
    Restart,
    Strike,
    StrikeBurst,
    Want,
)
from tests.orchestrator.suites.integrity.played import Playground


class FireGround(Playground):
    """Restarts where a stack would kill.

    Attributes:
        made: Calls of a burst that are made; the last of them is not acknowledged.
    """

    made = 4

    def _answer(self, namespace: str, want: Want) -> Answer:
        match want:
            case Strike():
                return self._struck(namespace, want)
            case StrikeBurst():
                given = [self._made(namespace, ask) for ask in want.asks[: self.made]]
                super()._answer(namespace, Restart(want.step))
                lost = [Answer(UNANSWERED)] * (len(want.asks) - len(given) + 1)
                return Answer(OK, parts=(*given[:-1], *lost))
            case _:
                return super()._answer(namespace, want)

    def _struck(self, namespace: str, want: Strike) -> Answer:
        """Not seen, made and unacknowledged, or acknowledged right before the end."""
        given = Answer(UNANSWERED)
        if want.phase is not Phase.REQUEST:
            given = self._made(namespace, want.ask)
        super()._answer(namespace, Restart(want.step))
        return given if want.phase is Phase.UNDERWAY else Answer(UNANSWERED)

    def _made(self, namespace: str, ask: Ask) -> Answer:
        given = super()._answer(namespace, ask)
        assert given.status == OK
        return given
