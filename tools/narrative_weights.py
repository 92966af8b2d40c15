"""Learns the weights of the reference's narrative ranking from open stories.

Run as ``python -m tools.narrative_weights FOLDER… [--write]``. Two linear models over the word-free
features of `services.memory.narrative.match`: how likely a segment tells what is asked (a softmax
over a speaker's segments) and how likely it holds a value that must not be told (logistic). Prints
what stories gave that the weights had not seen (five folds by story). ``--write`` puts the weights
into `services/memory/narrative/weights.py`. Deterministic: no random start and no sampling.
"""

import argparse
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.suites.narrative.corpus import read_fast
from orchestrator.suites.narrative.stories import Question, Story
from orchestrator.suites.narrative.vocabulary import QuestionType
from services.memory.narrative import answer, classify, dates, language, question, tagging
from services.memory.narrative.analysis import analyse
from services.memory.narrative.book import Told, bind
from services.memory.narrative.index import Index, build
from services.memory.narrative.match import features
from services.memory.narrative.question import Query

Floats = NDArray[np.float64]
Table = dict[str, float]

REPO_ROOT = Path(__file__).resolve().parents[1]
TARGET = REPO_ROOT / "services/memory/narrative/weights.py"
FOLDS = 5
STEPS = 150
RATE = 0.12
TELL_L2 = 0.08
RIVAL_L2 = 0.001
KEPT_MIN = 0.0005
LONG_WORDS_MAX = 150
LONG = {QuestionType.SITUATION, QuestionType.CHANGE}
HEADER = '''"""Weights of the reference's ranking, learned by tools/narrative_weights.py.

They weigh word-free features (`match`, `wanted`): no word of a story is in them.
"""

__all__ = ["RIVAL", "TELL"]
'''


@dataclass(frozen=True, slots=True)
class Case:
    """A question with the features of its speaker's segments.

    Attributes:
        story_id: the story, by which folds are made.
        question: as the story asks it.
        query: the question, read.
        index: the speaker's book.
        found: name of a feature → its values.
        tells: segments that hold what is expected and nothing that is forbidden.
        rivals: segments that hold something forbidden.
    """

    story_id: str
    question: Question
    query: Query
    index: Index
    found: dict[str, NDArray[np.float32]]
    tells: NDArray[np.bool_]
    rivals: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Weights:
    """The tables of `services.memory.narrative.weights`."""

    tell: Table
    rival: Table


def cases_of(story: Story) -> list[Case]:
    """Every question of a story over what its narrator told."""
    index = build(bind([_told(number, batch.time, batch.user_input)
                        for number, batch in enumerate(story.batches)]))  # fmt: skip
    found = []
    for asked in story.questions:
        doc = language.parse(asked.question)
        query = question.read(doc, classify.query_class(doc))
        texts = _texts(index, dated=answer.is_dated(query))
        tells = _holds(texts, asked.expected_contains or ())
        rivals = _holds(texts, asked.must_not_contain or ())
        found.append(
            Case(
                story.story_id,
                asked,
                query,
                index,
                features(query, index),
                tells & ~rivals,
                rivals,
            )
        )
    return found


def _told(number: int, time: str, text: str) -> Told:
    doc = language.parse(text)
    times = dates.find_times(doc, dt.datetime.fromisoformat(time))
    analysis = analyse(doc, times, tagging.tag(doc, times))
    turn_class = classify.turn_class(doc, updates=False)
    return Told(f"{number:04}", time, text, turn_class, analysis)


def _texts(index: Index, *, dated: bool) -> list[str]:
    texts = []
    for segment in index.book.segments:
        told = index.book.turns[segment.turn]
        words = told.analysis.words
        start, end = words[segment.first].start, words[segment.last - 1].end
        days = [t.resolves_to for t in told.analysis.times if t.start < end and t.end > start]
        texts.append(" ".join([told.text[start:end], *(days if dated else [])]).lower())
    return texts


def _holds(texts: Sequence[str], strings: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([any(one.lower() in text for one in strings) for text in texts], dtype=np.bool_)


def learn(cases: Sequence[Case]) -> Weights:
    """The weights that these cases teach."""
    short = [case for case in cases if _is_short(case)]
    names = sorted({name for case in short for name in case.found})
    tables = [_matrix(case, names) for case in short]
    tell = dict(zip(names, _softmax(tables, [case.tells for case in short]), strict=True))
    rows = np.concatenate(tables)
    fitted = _logistic(rows, np.concatenate([case.rivals for case in short]), RIVAL_L2, -3.0)
    rival = dict(zip([*names, "bias"], fitted.tolist(), strict=True))
    return Weights(tell, rival)


def _is_short(case: Case) -> bool:
    kind = case.question.expected_type
    return kind not in LONG and kind is not QuestionType.GENERAL_KNOWLEDGE


def _matrix(case: Case, names: Sequence[str]) -> Floats:
    nothing = np.zeros(case.index.segments)
    return np.stack([case.found.get(name, nothing) for name in names], axis=1).astype(np.float64)


def _descend(start: Floats, slope: "Slope") -> Floats:
    """Adam, with its usual constants but for the second moment."""
    weights = start.copy()
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        gradient = slope.at(weights)
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        mean, size = first / (1 - 0.9**step), second / (1 - 0.99**step)
        weights -= RATE * mean / (np.sqrt(size) + 1e-8)
    return weights


class Slope:
    """The gradient of a loss."""

    def at(self, weights: Floats) -> Floats:
        """Its value at some weights."""
        raise NotImplementedError


class _SoftmaxSlope(Slope):
    """Of -log(probability of the segments that tell), over each case's own segments."""

    def __init__(self, rows: Floats, tells: NDArray[np.bool_], starts: NDArray[np.int64]) -> None:
        self._rows, self._tells, self._starts = rows, tells, starts
        self._case = np.repeat(np.arange(len(starts)), np.diff([*starts, len(rows)]))

    def at(self, weights: Floats) -> Floats:
        scores = self._rows @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._case])
        right = odds * self._tells
        every = np.add.reduceat(odds, self._starts)[self._case]
        told = np.add.reduceat(right, self._starts)[self._case]
        slope: Floats = self._rows.T @ (odds / every - right / told) / len(self._starts)
        return slope + TELL_L2 * weights


class _LogisticSlope(Slope):
    def __init__(self, rows: Floats, truth: Floats, l2: float) -> None:
        self._rows, self._truth, self._l2 = rows, truth, l2

    def at(self, weights: Floats) -> Floats:
        likely = 1 / (1 + np.exp(-self._rows @ weights))
        shrink = self._l2 * np.r_[weights[:-1], 0.0]
        slope: Floats = self._rows.T @ (likely - self._truth) / len(self._truth) + shrink
        return slope


def _softmax(tables: Sequence[Floats], tells: Sequence[NDArray[np.bool_]]) -> list[float]:
    useful = [number for number, told in enumerate(tells) if told.any() and not told.all()]
    rows = np.concatenate([tables[number] for number in useful])
    sizes = [len(tables[number]) for number in useful]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    scale = rows.std(axis=0) + 1e-3
    told = np.concatenate([tells[number] for number in useful])
    slope = _SoftmaxSlope(rows / scale, told, starts)
    fitted: list[float] = (_descend(np.zeros(rows.shape[1]), slope) / scale).tolist()
    return fitted


def _logistic(rows: Floats, truth: NDArray[np.bool_], l2: float, bias: float) -> Floats:
    """Weights of the columns, and the bias last."""
    scale = rows.std(axis=0) + 1e-3
    scaled = np.concatenate([rows / scale, np.ones((len(rows), 1))], axis=1)
    start = np.zeros(scaled.shape[1])
    start[-1] = bias
    fitted = _descend(start, _LogisticSlope(scaled, truth.astype(np.float64), l2))
    return np.concatenate([fitted[:-1] / scale, fitted[-1:]])


def held(case: Case, weights: Weights) -> bool:
    """Whether the answer that the weights give is right, strictly."""
    tables = answer.Tables(weights.tell, weights.rival)
    judged = answer.judge(case.query, case.index, tables)
    if case.question.expected_type is QuestionType.GENERAL_KNOWLEDGE or not judged.known:
        return not judged.known and case.question.expected_type is QuestionType.GENERAL_KNOWLEDGE
    text = answer.answer(judged).text.lower()
    limit = LONG_WORDS_MAX if case.question.expected_type in LONG else answer.WORDS_MAX
    return (
        all(one.lower() in text for one in case.question.expected_contains or ())
        and not any(one.lower() in text for one in case.question.must_not_contain or ())
        and len(text.split()) <= limit
    )


def unseen(cases: Sequence[Case]) -> list[tuple[Case, bool]]:
    """Each case with what weights say that never saw its story."""
    stories = sorted({case.story_id for case in cases})
    fold_of = {story: number % FOLDS for number, story in enumerate(stories)}
    verdicts = []
    for fold in range(FOLDS):
        weights = learn([case for case in cases if fold_of[case.story_id] != fold])
        verdicts += [
            (case, held(case, weights)) for case in cases if fold_of[case.story_id] == fold
        ]
    return verdicts


def rendered(weights: Weights) -> str:
    """The module that holds the tables."""
    parts = [HEADER]
    for name, meaning, table in (
        ("TELL", "How likely a segment tells what is asked.", weights.tell),
        ("RIVAL", "How likely it holds a value that must not be told.", weights.rival),
    ):
        lines = [
            f'    "{key}": {value:.3f},'
            for key, value in sorted(table.items())
            if abs(value) >= KEPT_MIN
        ]
        parts.append("\n".join([f"# {meaning}", f"{name}: dict[str, float] = {{", *lines, "}"]))
    return "\n".join(parts) + "\n"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="tools.narrative_weights", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of open stories")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    given = parser.parse_args()
    paths = sorted(path for folder in given.folders for path in folder.rglob("*.yaml"))
    cases = [case for story in read_fast(paths) for case in cases_of(story)]
    verdicts = unseen(cases)
    for kind in QuestionType:
        right = [good for case, good in verdicts if case.question.expected_type is kind]
        print(f"{kind.value:<18} {sum(right)}/{len(right)}")
    print(f"{'all':<18} {sum(good for _, good in verdicts)}/{len(verdicts)} strict, unseen stories")
    if given.write:
        TARGET.write_text(rendered(learn(cases)), encoding="utf-8", newline="\n")
        print(f"weights: {TARGET.relative_to(REPO_ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
