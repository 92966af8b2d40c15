"""Bad input: what breaks the contract's formats is refused, what is only unusual is taken."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from google.protobuf.message import Message

from memqual.v1 import narrative_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, Revive, Script
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.integrity.steps import call
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.scene import (
    NarrativeCase,
    NarrativeCheck,
    Scene,
    contract_check,
)
from orchestrator.suites.narrative.steps import ask
from orchestrator.suites.narrative.stories import (
    ID_BYTES_MAX,
    QUESTION_BYTES_MAX,
    TURN_BYTES_MAX,
    Batch,
    Story,
)
from orchestrator.suites.narrative.vocabulary import Category

__all__ = ["BAD_INPUT", "INPUTS", "Input"]

_CASE = "property.bad_input"
_REFUSED = NarrativeCheck(
    _CASE,
    Column.SAFETY,
    18,
    "malformed input is refused with INVALID_ARGUMENT, or what is too long as over a limit",
    "refused",
)
_TAKEN = NarrativeCheck(
    _CASE,
    Column.UTILITY,
    19,
    "unusual input is taken, and what was told before is answered",
    "taken",
)
_MALFORMED = "INVALID_ARGUMENT"
# A limit of the contract is a declared one, and gRPC itself says so of what is over its own.
_OVER_A_LIMIT = "RESOURCE_EXHAUSTED"
# Nobody answers: the memory says so itself, or there is none any more.
_GONE = "UNAVAILABLE"
_SPEAKER = "Ottoline Vasquez-Brandt"
_AT = "2026-05-04T09:15"
_LATER = "2026-05-11T18:40"
_PLAIN = "My cousin Ferelith repairs clocks in Tromsdal."
_KNOWN = "Tromsdal"
_QUESTION = "Where does my cousin repair clocks?"
_MEGABYTE = 1 << 20

_Request: TypeAlias = narrative_pb2.IngestRequest | narrative_pb2.AskRequest


def _turn(text: str, **changes: str) -> narrative_pb2.IngestRequest:
    fields = {"namespace": "", "speaker": _SPEAKER, "time": _LATER, "text": text, **changes}
    return narrative_pb2.IngestRequest(turn=narrative_pb2.Turn(**fields))


def _ask(**changes: str) -> narrative_pb2.AskRequest:
    fields = {"question": _QUESTION, "speaker": _SPEAKER, "time": _LATER, **changes}
    return narrative_pb2.AskRequest(**fields)


@dataclass(frozen=True)
class Input:
    """One bad or unusual input.

    Attributes:
        name: Of its trial.
        request: Without its namespace.
        refused: It breaks the contract's formats.
        too_long: It does so by its size alone.
        nowhere: It stays without a namespace.
    """

    name: str
    request: Callable[[], _Request]
    refused: bool
    too_long: bool = False
    nowhere: bool = False

    @property
    def refusals(self) -> tuple[str, ...]:
        """The statuses that refuse it."""
        return (_MALFORMED, _OVER_A_LIMIT) if self.too_long else (_MALFORMED,)

    def in_namespace(self, namespace: str) -> Message:
        """The request as it is sent."""
        request = self.request()
        if self.nowhere:
            return request
        if isinstance(request, narrative_pb2.AskRequest):
            request.namespace = namespace
        elif request.HasField("turn"):
            request.turn.namespace = namespace
        return request


_MANY_BYTES = "\u00e9" * (TURN_BYTES_MAX // 2 + 1)
_SCRIPTS = "\u041c\u043e\u0439 \u0431\u0440\u0430\u0442 met \u674e\u660e at \u03b7 \u03bd\u03cd."
_RIGHT_TO_LEFT = "\u0623\u062e\u064a \u064a\u0639\u0645\u0644 \u0641\u064a Nabeul."
_EMOJI = "\U0001f389\U0001f680 promoted!! \U0001f469\u200d\U0001f373"
_OTHER_LETTERS = "\u0141ucja \u00d8str\u00f8m"


def _malformed(name: str, request: Callable[[], _Request], *, nowhere: bool = False) -> Input:
    return Input(name, request, refused=True, nowhere=nowhere)


def _too_long(name: str, request: Callable[[], _Request]) -> Input:
    return Input(name, request, refused=True, too_long=True)


def _unusual(name: str, text: str, **changes: str) -> Input:
    return Input(name, lambda: _turn(text, **changes), refused=False)


INPUTS = (
    _malformed("no turn", narrative_pb2.IngestRequest, nowhere=True),
    _malformed("no namespace", lambda: _turn(_PLAIN), nowhere=True),
    _malformed("no speaker", lambda: _turn(_PLAIN, speaker="")),
    _malformed("no text", lambda: _turn("")),
    _malformed("no time", lambda: _turn(_PLAIN, time="")),
    _malformed("time in words", lambda: _turn(_PLAIN, time="last Tuesday")),
    _malformed("a day that is none", lambda: _turn(_PLAIN, time="2026-02-30T10:00")),
    _too_long("speaker too long", lambda: _turn(_PLAIN, speaker="s" * (ID_BYTES_MAX + 1))),
    _too_long("text too long", lambda: _turn("t" * (TURN_BYTES_MAX + 1))),
    _too_long("text too long in bytes alone", lambda: _turn(_MANY_BYTES)),
    _too_long("a megabyte", lambda: _turn("word " * (_MEGABYTE // 5))),
    _malformed("no question", lambda: _ask(question="")),
    _too_long("question too long", lambda: _ask(question="q" * (QUESTION_BYTES_MAX + 1))),
    _malformed("question to no namespace", _ask, nowhere=True),
    _malformed("question at no time", lambda: _ask(time="noonish")),
    _unusual("emoji", _EMOJI),
    _unusual("mixed scripts", _SCRIPTS),
    _unusual("right to left", _RIGHT_TO_LEFT),
    _unusual("another language", "Meine Tante wohnt seit Mai in Graz."),
    _unusual("combining marks", "Z" + "\u0301\u0323" * 400 + "algo"),
    _unusual("one long word", "a" * 20_000),
    _unusual("signs alone", "?!\u2026 --- ;;; \u00bf"),
    _unusual("lines and tabs", "First.\n\n\tSecond;\r\nthird\u2028fourth"),
    _unusual("as if it were code", "'); DROP TABLE facts; -- <b>{{7*7}}</b> %s"),
    _unusual("a NUL within", "before\u0000after"),
    _unusual("earlier than the turn before", _PLAIN, time="2019-01-02T03:04"),
    _unusual("seconds in its time", _PLAIN, time="2026-05-11T18:40:59"),
    _unusual("many sentences", "It rained. " * 900),
    _unusual("speaker of other letters", _PLAIN, speaker=_OTHER_LETTERS),
    Input("strange question", lambda: _ask(question="\U0001f937 ??? \u4f55"), refused=False),
    Input("unknown speaker", lambda: _ask(speaker="Nobody Atall"), refused=False),
)
"""Every input, in the order of the trials."""


def _story(number: int, one: Input) -> Story:
    """What a trial of this case tells: its text is ours and no story's."""
    return Story(
        story_id=f"input-{number:02d}",
        story_name=one.name,
        category=Category.DAILY_LIFE,
        narrator=_SPEAKER,
        batches=(Batch(batch=1, time=_AT, user_input=_PLAIN),),
        questions=(),
    )


_STORIES = tuple(_story(number, one) for number, one in enumerate(INPUTS))


def _stories(corpus: Corpus) -> Sequence[Story]:
    return _STORIES


def _script(scene: Scene) -> Script:
    """Tell something plain, give the input, and ask for what is plain before and after."""
    one = INPUTS[scene.number]
    yield from call("plain", _turn(_PLAIN, namespace=scene.namespace, time=_AT))
    before = yield from _plain("before", scene)
    answer = yield Ask("input", one.in_namespace(scene.namespace))
    if answer.status == _GONE:
        yield Revive("ended")
    after = yield from _plain("after", scene)
    told = f"{one.name}: {answer.status}"
    if one.refused:
        same = (before.text, before.declined) == (after.text, after.declined)
        held = answer.status in one.refusals and (same or not scene.deterministic)
        scene.findings.judge(
            _REFUSED, held, told if same else f"{told}, and another answer than before it"
        )
        scene.findings.open(_TAKEN, "malformed", required=False)
    else:
        harmed = _KNOWN in before.text and _KNOWN not in after.text
        held = answer.status == "OK" and not harmed
        told = f"{told}, and what was told before is gone" if harmed else told
        scene.findings.judge(_TAKEN, held, told)
        scene.findings.open(_REFUSED, "well formed", required=False)


def _plain(step: str, scene: Scene) -> Generator[Ask, Answer, narrative_pb2.Answer]:
    answer = yield from ask(step, scene, _ask(namespace=scene.namespace))
    return answer


BAD_INPUT = NarrativeCase(
    case=_CASE,
    title="Bad input: refused, or taken, and never a crash",
    checks=(contract_check(_CASE), _REFUSED, _TAKEN),
    script=_script,
    stories=_stories,
    alone=True,
    whole=True,
)
