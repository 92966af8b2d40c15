"""Learns what the reference's narrative path knows of asking and answering, from stories.

Run as ``python -m tools.narrative_weights FOLDER… [--write]``. From features without words it
learns what a question asks for (`asked`), how likely a segment tells what is asked and how likely
it holds a value that must not be told (`answer`), and the same of the passages of a whole
(`wholes`). Prints what stories gave that nothing had seen: five folds by story, or with
``--by-folder`` each folder with what the others taught. ``--write`` puts it all into
`services/memory/narrative`. Equal stories give equal files.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from orchestrator.suites.narrative.corpus import read_fast
from orchestrator.suites.narrative.vocabulary import QuestionType
from services.memory.narrative import answer, asked, wholes
from services.memory.narrative.match import features
from services.memory.narrative.trees import Trees, as_json
from tools.narrative_cases import LONG, Case, Labelled, read_story, short_of, whole_of
from tools.narrative_fits import fit_classes, fit_ranking
from tools.narrative_trees import grow

REPO_ROOT = Path(__file__).resolve().parents[1]
TARGET = REPO_ROOT / "services/memory/narrative/weights.py"
FOLDS = 5
KEPT_MIN = 0.0005
# Of wrong values these tell nothing: trees with them were worse on unseen stories.
RANKING_ONLY = ("align_", "alike_")
LONG_WORDS_MAX = 150
HEADER = '''"""Weights of the reference's ranking, learned by tools/narrative_weights.py.

They weigh word-free features (`match`, `wanted`): no word of a story is in them.
"""

__all__ = ["TELL"]

# How likely a segment tells what is asked.
TELL: dict[str, float] = {
'''


@dataclass(frozen=True, slots=True)
class _Short:
    """A short question with its labelled segments, and the fold that it is in."""

    case: Case
    rows: Labelled
    fold: int


def learn_classes(cases: Sequence[Case]) -> asked.Classifier:
    """What tells the class of a question."""
    rows = np.stack([asked.class_features(case.query) for case in cases])
    places = {kind: place for place, kind in enumerate(asked.CLASSES)}
    truth = np.array([places[case.expected_class] for case in cases])
    return asked.Classifier(fit_classes(rows, truth, len(places)))


def learn_short(cases: Sequence[Labelled]) -> tuple[dict[str, float], Trees]:
    """What tells a short answer, and what holds a wrong value."""
    names = sorted({name for case in cases for name in case.found})
    tables = [case.matrix(names) for case in cases]
    tell = dict(zip(names, fit_ranking(tables, [case.tells for case in cases]), strict=True))
    rivals = np.concatenate([case.rivals for case in cases])
    seen = [place for place, name in enumerate(names) if not name.startswith(RANKING_ONLY)]
    rows = np.concatenate([table[:, seen] for table in tables])
    return tell, grow([names[place] for place in seen], rows, rivals)


def learn_wholes(cases: Sequence[Labelled]) -> wholes.WholeTables:
    """What belongs to a whole, and what holds a wrong value."""
    names = sorted({name for case in cases for name in case.found})
    rows = np.concatenate([case.matrix(names) for case in cases])
    return wholes.WholeTables(
        grow(names, rows, np.concatenate([case.tells for case in cases])),
        grow(names, rows, np.concatenate([case.rivals for case in cases])),
    )


class Lesson:
    """All cases in folds; what is known in a fold was learned without its own stories."""

    def __init__(self, cases: Sequence[Case], folds: Sequence[int]) -> None:
        self._fold_of = folds
        count = max(folds) + 1
        self._cases = [self._classed(cases, fold) for fold in range(count)]
        self._short = [
            _Short(case, short_of(case), fold)
            for fold, some in enumerate(self._cases)
            for case in some
            if _is_short(case)
        ]
        self._plain = [
            learn_short([one.rows for one in self._short if one.fold != fold])
            for fold in range(count)
        ]
        self._whole = [
            [self._labelled(case, fold) for case in some if case.question.expected_type in LONG]
            for fold, some in enumerate(self._cases)
        ]

    def _classed(self, cases: Sequence[Case], fold: int) -> list[Case]:
        """The cases of a fold, with the class that the others' questions teach."""
        others = [case for case, own in zip(cases, self._fold_of, strict=True) if own != fold]
        classifier = learn_classes(others)
        return [
            replace(case, query=classifier.refine(case.query))
            for case, own in zip(cases, self._fold_of, strict=True)
            if own == fold
        ]

    def _labelled(self, case: Case, fold: int) -> Labelled:
        found = features(case.query, case.index)
        tell, rival = self._plain[fold]
        scores = answer.weighed(found, tell, case.index.segments)
        return whole_of(
            case.asked(case.expected_class), scores, rival.total(found, case.index.segments)
        )

    def unseen(self) -> list[tuple[Case, bool]]:
        """Each case with whether the answer is right, strictly."""
        verdicts = []
        for fold, cases in enumerate(self._cases):
            others = [one for own, some in enumerate(self._whole) if own != fold for one in some]
            tables = answer.Tables(*self._plain[fold], learn_wholes(others))
            verdicts += [(case, held(case, tables)) for case in cases]
        return verdicts

    def tables(self) -> answer.Tables:
        """What all cases teach."""
        short = learn_short([one.rows for one in self._short])
        return answer.Tables(*short, learn_wholes([one for some in self._whole for one in some]))


def _is_short(case: Case) -> bool:
    kind = case.question.expected_type
    return kind not in LONG and kind is not QuestionType.GENERAL_KNOWLEDGE


def held(case: Case, tables: answer.Tables) -> bool:
    """Whether the answer that the tables give is right, strictly."""
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


def rendered(tell: dict[str, float]) -> str:
    """The module that holds the linear weights."""
    lines = [
        f'    "{key}": {value:.3f},'
        for key, value in sorted(tell.items())
        if abs(value) >= KEPT_MIN
    ]
    return "\n".join([HEADER.rstrip("\n"), *lines, "}"]) + "\n"


def report(verdicts: Sequence[tuple[Case, bool]]) -> None:
    """Prints how many answers were right, strictly, and how many classes."""
    for kind in QuestionType:
        right = [good for case, good in verdicts if case.question.expected_type is kind]
        print(f"{kind.value:<18} {sum(right)}/{len(right)}")
    classes = [case.query.query_class is case.expected_class for case, _ in verdicts]
    print(f"{'classes':<18} {sum(classes)}/{len(classes)}")
    print(f"{'all':<18} {sum(good for _, good in verdicts)}/{len(verdicts)} strict, unseen stories")


def write(classifier: asked.Classifier, tables: answer.Tables) -> None:
    """Puts everything where the memory reads it."""
    rows = [json.dumps([float(f"{value:.4g}") for value in row]) for row in classifier.weights]
    texts = {
        TARGET: rendered(tables.tell),
        asked.LEARNED: "[\n" + ",\n".join(rows) + "\n]\n",
        answer.RIVAL: as_json(tables.rival),
        wholes.TELL: as_json(tables.whole.tell),
        wholes.RIVAL: as_json(tables.whole.rival),
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"written: {path.relative_to(REPO_ROOT)}")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="tools.narrative_weights", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of stories")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    parser.add_argument("--by-folder", action="store_true", help="a fold is a folder")
    given = parser.parse_args()
    parts = [
        [case for story in read_fast(sorted(folder.rglob("*.yaml"))) for case in read_story(story)]
        for folder in given.folders
    ]
    cases = [case for part in parts for case in part]
    stories = sorted({case.story_id for case in cases})
    place = {story: number % FOLDS for number, story in enumerate(stories)}
    folds = [place[case.story_id] for case in cases]
    if given.by_folder:
        folds = [number for number, part in enumerate(parts) for _ in part]
    lesson = Lesson(cases, folds)
    told = lesson.unseen()
    if given.by_folder:
        for number, folder in enumerate(given.folders):
            print(f"{folder}:")
            report([one for one, fold in zip(told, sorted(folds), strict=True) if fold == number])
    else:
        report(told)
    if given.write:
        write(learn_classes(cases), lesson.tables())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
