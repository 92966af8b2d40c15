"""Concrete answers with which a history of the brute-force model can go on."""

from __future__ import annotations

from tests.orchestrator.oracle.brute_force import Answer, Ask, Clock, Rules, reachable


def answers_to(
    probe: Ask, asks: tuple[Ask, ...], clock: Clock, rules: Rules, serial: int
) -> list[Answer]:
    """Concrete answers for every word that is reachable, to continue histories from."""
    attempts = [ask.answer[1] for ask in asks if ask.answer and ask.answer[0] == "EXECUTE"]
    concrete: list[Answer] = []
    for told in sorted(reachable(asks, probe, clock, rules)):
        concrete.extend(_concrete(told, attempts, asks, serial))
    return [answer for answer in concrete if _consistent(asks, probe, answer, clock, rules)]


def _concrete(told: str, attempts: list[int], asks: tuple[Ask, ...], serial: int) -> list[Answer]:
    top = max(attempts, default=0)
    tokens = {a.answer[1]: a.answer[2] for a in asks if a.answer and a.answer[0] == "EXECUTE"}
    if told == "EXECUTE(new)":
        return [("EXECUTE", top + 1, f"t{serial}"), ("EXECUTE", top + 2, f"t{serial}")]
    if told == "EXECUTE(same)":
        known: list[Answer] = [("EXECUTE", number, token) for number, token in tokens.items()]
        return [*known, ("EXECUTE", top + 1, f"t{serial}")]
    if told == "QUERY":
        return [("QUERY", number, f"q{serial}") for number in (*attempts, top + 1)]
    if told == "REUSE":
        receipts: list[Answer] = [
            ("REUSE", (ask.attempt, ask.variant, ask.result))
            for ask in asks
            if ask.what == "receipt" or ask.presence == "PRESENT"
        ]
        return [
            *receipts,
            *(("REUSE", ("operator", a.result)) for a in asks if a.word == "happened"),
        ]
    if told.startswith("OK("):
        return [("OK", told[3:-1])]
    return [(told,)]


def _consistent(
    asks: tuple[Ask, ...], probe: Ask, answer: Answer, clock: Clock, rules: Rules
) -> bool:
    """Whether some run gives exactly this answer."""
    answered = Ask(**{**probe.__dict__, "answer": answer})
    late = Ask("begin", probe.stop, probe.stop, variant=probe.variant, life="Z", begin="z")
    return bool(reachable((*asks, answered), late, clock, rules))
