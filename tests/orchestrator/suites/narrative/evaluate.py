"""How well a narrative memory does on a folder of stories, in this process and without gRPC.

    python -m tests.orchestrator.suites.narrative.evaluate FOLDER [options]

For those who build a memory: the suite itself (`memqual qualify`) is what counts. A vendor is a
dotted name `module:factory`; the factory takes a new, empty folder and returns an object with
`ingest(turn: Turn) -> IngestResponse` and `ask(request: AskRequest) -> AskResponse` (messages of
`memqual.v1.narrative_pb2`), optionally `export(namespace) -> Iterable[str]` (texts that are no raw
turns; else CP2 reads the facts of the traces) and `close()`.
"""

from __future__ import annotations

import argparse
import importlib
import random
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from memqual.v1 import narrative_pb2
from orchestrator.suites.narrative import checkpoints
from orchestrator.suites.narrative.checkpoints import Checkpoint, Point
from orchestrator.suites.narrative.corpus import read_fast
from orchestrator.suites.narrative.others import Speakers
from orchestrator.suites.narrative.raw_turns import without_raw_turns
from orchestrator.suites.narrative.stories import Question, Story

DEFAULT_VENDOR = "services.memory.narrative.part:open_part"
_PREDICTED_FACTS_MAX = 6
_PREDICTED_QUERIES_MAX = 3
_CP8 = (Checkpoint.PUBLISHED, Checkpoint.STRICT)


class Memory(Protocol):
    """What is measured."""

    def ingest(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Take one turn."""

    def ask(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Answer one question."""


@dataclass(frozen=True)
class Mode:
    """How stories share a memory, and whether the speaker is told."""

    name: str
    together: bool
    speaker: bool


MODES = {
    "isolated": Mode("isolated", together=False, speaker=True),
    "scoped": Mode("cumulative scoped", together=True, speaker=True),
    "open": Mode("cumulative open", together=True, speaker=False),
}


@dataclass(frozen=True)
class Asked:
    """One question with its answer and its points."""

    story: Story
    question: Question
    text: str
    answer: narrative_pb2.Answer
    points: tuple[Point, ...]
    milliseconds: float


@dataclass(frozen=True)
class Told:
    """Points of turns, storage and predicted queries of one story."""

    story: Story
    points: tuple[Point, ...]


def load(folder: Path) -> tuple[Story, ...]:
    """All stories of a folder, or that of a file, in order of their ids; read fast, not linted."""
    return read_fast(folder.rglob("*.yaml") if folder.is_dir() else [folder])


class Evaluation:
    """One mode over all stories with one memory."""

    def __init__(self, memory: Memory, mode: Mode) -> None:
        self._memory = memory
        self._mode = mode
        self._facts: dict[str, dict[str, str]] = defaultdict(dict)
        self._queries: dict[str, list[tuple[str, Sequence[str], str]]] = defaultdict(list)
        self._speakers = Speakers(())
        self.ingest_milliseconds: list[float] = []

    def run(self, stories: Sequence[Story]) -> tuple[list[Told], list[Asked]]:
        """Tell all stories, then ask all questions."""
        told: list[Told] = []
        asked: list[Asked] = []
        scoped = self._mode.together and self._mode.speaker
        self._speakers = Speakers(stories if scoped else ())
        if self._mode.together:
            writing = {story.story_id: self._tell(story) for story in stories}
            for story in stories:
                told.append(Told(story, (*writing[story.story_id], *self._look(story))))
                asked += self._ask_all(story)
        else:
            for story in stories:
                points = self._tell(story)
                told.append(Told(story, (*points, *self._look(story))))
                asked += self._ask_all(story)
        return told, asked

    def _namespace(self, story: Story) -> str:
        return "all" if self._mode.together else story.story_id

    def _tell(self, story: Story) -> tuple[Point, ...]:
        points: list[Point] = []
        facts = self._facts[self._namespace(story)]
        for batch in story.batches:
            turn = narrative_pb2.Turn(
                namespace=self._namespace(story),
                speaker=story.speaker,
                time=batch.time,
                text=batch.user_input,
            )
            start = time.perf_counter()
            trace = self._memory.ingest(turn).trace
            self.ingest_milliseconds.append(1000 * (time.perf_counter() - start))
            points += checkpoints.writing_points(batch, trace)
            for fact in trace.facts:
                facts[fact.fact_id] = fact.text
                queries = fact.predicted_queries[:_PREDICTED_QUERIES_MAX]
                self._queries[story.story_id].append((fact.fact_id, queries, batch.time))
        return tuple(points)

    def _look(self, story: Story) -> Iterator[Point]:
        """CP2 and CP3."""
        namespace = self._namespace(story)
        export = getattr(self._memory, "export", None)
        turns = [batch.user_input for batch in story.batches]
        items = export(namespace) if export else self._facts[namespace].values()
        stored = without_raw_turns(list(items), turns)
        for batch in story.batches:
            yield from checkpoints.storage_points(batch, stored)
        known = self._queries[story.story_id]
        chosen = random.Random(story.story_id).sample(known, min(len(known), _PREDICTED_FACTS_MAX))
        for fact_id, queries, at in chosen:
            answers = (self._ask(story, query, at)[0] for query in queries)
            found = [tuple(it.trace.candidate_fact_ids[:10]) for it in answers]
            yield checkpoints.predicted_point(fact_id, found)

    def _ask_all(self, story: Story) -> Iterator[Asked]:
        facts = self._facts[self._namespace(story)]
        own = {fact_id: facts[fact_id] for fact_id, *_ in self._queries[story.story_id]}
        for question in story.questions:
            text = question.question if self._mode.speaker else question.question_open
            if text is None:
                continue
            answer, milliseconds = self._ask(story, text, story.batches[-1].time)
            foreign = self._speakers.given_away(story, text, answer.text)
            points = (
                *checkpoints.reading_points(story, question, answer.trace, facts, own),
                *checkpoints.answer_points(question, answer, foreign),
            )
            yield Asked(story, question, text, answer, points, milliseconds)

    def _ask(self, story: Story, text: str, at: str) -> tuple[narrative_pb2.Answer, float]:
        request = narrative_pb2.AskRequest(
            namespace=self._namespace(story),
            question=text,
            speaker=story.speaker if self._mode.speaker else "",
            time=at,
        )
        start = time.perf_counter()
        answer = self._memory.ask(request).answer
        return answer, 1000 * (time.perf_counter() - start)


def report(
    mode: Mode, told: Sequence[Told], asked: Sequence[Asked], *, counts_only: bool
) -> Iterator[str]:
    """What a person reads; `counts_only` gives no text of any story."""
    yield f"== {mode.name}: {len(told)} stories, {len(asked)} questions"
    every = [point for it in told for point in it.points]
    every += [point for it in asked for point in it.points]
    for checkpoint in Checkpoint:
        points = [point for point in every if point.checkpoint is checkpoint]
        yield f"  {checkpoint.value:<14} {_rate(point.held for point in points)}"
    yield from _table("by expected_type", asked, lambda it: (str(it.question.expected_type),))
    yield from _table("by pattern", asked, lambda it: it.story.patterns)
    yield from _table("by round", asked, lambda it: (it.story.round or "none",))
    whole = defaultdict(list)
    for it in asked:
        whole[it.story.story_id].append(_held(it, Checkpoint.STRICT))
    yield f"  stories all strict  {_rate(all(held) for held in whole.values())}"
    yield from _kinds(asked)
    if not counts_only:
        yield from _failures(asked)


def _kinds(asked: Sequence[Asked]) -> Iterator[str]:
    """What strict answers lacked, without a word of any."""
    kinds: Counter[str] = Counter()
    for it in asked:
        if not _held(it, Checkpoint.STRICT):
            kinds[_kind(it)] += 1
    yield "  strict failures: " + (", ".join(f"{k} {n}" for k, n in kinds.most_common()) or "none")


def _kind(it: Asked) -> str:
    seen = next(point.seen for point in it.points if point.checkpoint is Checkpoint.STRICT)
    if seen == "not declined":
        return "not declined"
    if it.answer.declined:
        return "declined"
    parts = ("lacks", "holds", "words of at most")
    return "+".join(part.split()[0] for part in parts if part in seen) or "other"


def _failures(asked: Sequence[Asked]) -> Iterator[str]:
    for it in asked:
        wrong = [point for point in it.points if not point.held]
        if _held(it, Checkpoint.STRICT):
            continue
        failed = " ".join(point.checkpoint.value for point in wrong)
        question = it.question
        yield f"\n{it.story.story_id} {question.question_id} {question.expected_type} [{failed}]"
        yield f"  Q {it.text}"
        yield f"  expected {list(question.expected_contains)} not {list(question.must_not_contain)}"
        yield f"  answer   {'DECLINED ' if it.answer.declined else ''}{it.answer.text}"


def _writing_failures(told: Sequence[Told]) -> Iterator[str]:
    for it in told:
        for point in it.points:
            if not point.held:
                yield f"{it.story.story_id} {point.checkpoint.value} {point.seen}"


def _table(
    title: str, asked: Sequence[Asked], keys: Callable[[Asked], Iterable[str]]
) -> Iterator[str]:
    groups: dict[str, list[Asked]] = defaultdict(list)
    for it in asked:
        for key in keys(it):
            groups[key].append(it)
    yield f"  {title:<24} {'published':<22} strict"
    for key, group in sorted(groups.items()):
        published, strict = (_rate(_held(it, point) for it in group) for point in _CP8)
        yield f"    {key:<22} {published:<22} {strict}"


def _held(it: Asked, checkpoint: Checkpoint) -> bool:
    return all(point.held for point in it.points if point.checkpoint is checkpoint)


def _rate(held: Iterable[bool]) -> str:
    seen = list(held)
    return f"{sum(seen)}/{len(seen)} {100 * sum(seen) / len(seen):.1f} %" if seen else "n/a"


def open_vendor(name: str, folder: Path) -> Memory:
    """The memory that `module:factory` makes on a new folder."""
    module, _, factory = name.partition(":")
    made = getattr(importlib.import_module(module), factory)(folder)
    return cast(Memory, made)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what a folder of stories gives; see the module."""
    parser = argparse.ArgumentParser(prog="evaluate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--sample", type=int, help="so many stories, drawn by a fixed seed")
    for name in MODES:
        parser.add_argument(f"--{name}", action="append_const", dest="modes", const=name)
    parser.add_argument("--counts-only", action="store_true")
    parser.add_argument("--writing", action="store_true", help="failures of CP1-4, 9, 10, too")
    parser.add_argument("--vendor", default=DEFAULT_VENDOR, help="module:factory")
    given = parser.parse_args(arguments)
    stories = [story for folder in given.folder for story in load(folder)]
    if given.sample and given.sample < len(stories):
        stories = random.Random(0).sample(stories, given.sample)
    start = time.perf_counter()
    for name in given.modes or MODES:
        with tempfile.TemporaryDirectory(prefix="narrative-") as folder:
            memory = open_vendor(given.vendor, Path(folder))
            evaluation = Evaluation(memory, MODES[name])
            told, asked = evaluation.run(stories)
            for line in report(MODES[name], told, asked, counts_only=given.counts_only):
                print(line)
            if given.writing and not given.counts_only:
                print(*_writing_failures(told), sep="\n")
            asks = statistics.median(it.milliseconds for it in asked) if asked else 0.0
            takes = statistics.median(evaluation.ingest_milliseconds or [0.0])
            print(f"  p50: ingest {takes:.1f} ms, ask {asks:.1f} ms")
            getattr(memory, "close", lambda: None)()
    print(f"{time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
