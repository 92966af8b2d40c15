"""The table of narrative flaws: some for each property, and the one check that must catch each."""

from collections.abc import Mapping

from services.controls import narrative_losses
from services.controls.flaw import Flaw
from services.controls.narrative_answers import (
    AnswersAtRandom,
    AnswersByNamespace,
    AnswersEmpty,
    AnswersInTurn,
    AnswersOutOfAll,
    DeclinesEverything,
    KeepsSuperseded,
    TellsOfOthers,
)
from services.controls.narrative_inputs import (
    DatesByArrival,
    DatesByMachine,
    DiesOfNul,
    FailsBeyondPlane,
    RunsWhatItIsTold,
    SaysExhausted,
    TakesAnyLength,
    TakesAnyTime,
)
from services.controls.narrative_parts import (
    AGAIN,
    AHEAD,
    ANSWERED,
    BEHIND,
    EVERY_ANSWERED,
    EVERY_COMPARISON,
    FACTS,
    INGEST,
    OTHERS,
    OWN,
    REFUSED,
    REVERSED,
    TAKEN,
    TWIN,
    of_servicer,
)
from services.controls.narrative_traces import CitesOthers, InventsFacts, PredictsInVain

__all__ = ["FLAWS"]

_CORE_CONTRACT = "narrative.level.core.contract"

FLAWS: Mapping[str, Flaw] = {
    **narrative_losses.FLAWS,
    "narrative_keeps_superseded": of_servicer(
        "narrative_keeps_superseded",
        KeepsSuperseded,
        "tells what was so earlier beside what is so now",
        "narrative.property.update.cp8_strict",
    ),
    "narrative_machine_clock": of_servicer(
        "narrative_machine_clock",
        DatesByMachine,
        "takes each turn for one of the day that the machine's clock shows",
        AHEAD,
        # What is told twice is told on two days, where the clock jumped or midnight passed.
        (BEHIND,),
    ),
    "narrative_order_of_arrival": of_servicer(
        "narrative_order_of_arrival",
        DatesByArrival,
        "takes what comes later for what was said later",
        REVERSED,
    ),
    "narrative_mixes_speakers": of_servicer(
        "narrative_mixes_speakers",
        AnswersOutOfAll,
        "answers a speaker out of what anybody said",
        OTHERS,
        (FACTS, OWN),
    ),
    "narrative_tells_of_others": of_servicer(
        "narrative_tells_of_others",
        TellsOfOthers,
        "adds to a speaker's answer what another one told",
        OWN,
        # Whatever it answers has something of others, a question of theirs, too.
        (OTHERS,),
    ),
    "narrative_cites_others": of_servicer(
        "narrative_cites_others",
        CitesOthers,
        "rests a speaker's answer on what another one told",
        FACTS,
    ),
    "narrative_random": of_servicer(
        "narrative_random",
        AnswersAtRandom,
        "declares itself determinate and draws its answers",
        AGAIN,
        tuple(check for check in EVERY_COMPARISON if check != AGAIN),
    ),
    "narrative_answers_in_turn": of_servicer(
        "narrative_answers_in_turn",
        AnswersInTurn,
        "tells another of its candidates each time that a question is asked",
        AGAIN,
    ),
    "narrative_answers_by_namespace": of_servicer(
        "narrative_answers_by_namespace",
        AnswersByNamespace,
        "lets the name of the namespace decide which of its candidates it tells",
        TWIN,
        # These hold one namespace's answers against another's, too.
        (AHEAD, BEHIND, INGEST),
    ),
    "narrative_declines": of_servicer(
        "narrative_declines",
        DeclinesEverything,
        "declines whatever it is asked",
        ANSWERED,
        tuple(check for check in EVERY_ANSWERED if check != ANSWERED),
    ),
    "narrative_empty": of_servicer(
        "narrative_empty",
        AnswersEmpty,
        "answers with nothing and does not decline",
        _CORE_CONTRACT,
    ),
    "narrative_takes_any_length": of_servicer(
        "narrative_takes_any_length",
        TakesAnyLength,
        "keeps the first 64 KiB of a longer turn and acknowledges the whole",
        REFUSED,
    ),
    "narrative_takes_any_time": of_servicer(
        "narrative_takes_any_time",
        TakesAnyTime,
        "takes a time that it cannot read for the beginning of the epoch",
        REFUSED,
    ),
    "narrative_says_exhausted": of_servicer(
        "narrative_says_exhausted",
        SaysExhausted,
        "refuses malformed turns as if something had run out",
        REFUSED,
    ),
    "narrative_fails_on_emoji": of_servicer(
        "narrative_fails_on_emoji",
        FailsBeyondPlane,
        "fails at characters beyond the first plane",
        TAKEN,
    ),
    "narrative_dies_of_nul": of_servicer(
        "narrative_dies_of_nul",
        DiesOfNul,
        "ends its process at a NUL within a turn",
        TAKEN,
    ),
    "narrative_runs_what_it_is_told": of_servicer(
        "narrative_runs_what_it_is_told",
        RunsWhatItIsTold,
        "carries out a command to drop its tables that stands in a turn",
        TAKEN,
    ),
    "narrative_predicts_in_vain": of_servicer(
        "narrative_predicts_in_vain",
        PredictsInVain,
        "predicts questions that find no fact",
        "narrative.level.core.cp3",
    ),
    "narrative_invents_facts": of_servicer(
        "narrative_invents_facts",
        InventsFacts,
        "traces its answers back to facts that it never told of",
        "narrative.level.core.cp6",
    ),
}
