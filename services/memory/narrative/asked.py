"""What a question asks for, from its form and from what it is near to (CP5).

The rules of `asking` know the plain forms of English; how else one can ask for a feeling ("what was
in my heart that night?") the encoder hears better, and that several things are asked at once their
coordination shows. Weights of it all were learned by tools/narrative_weights.py.
"""

import dataclasses
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.coordination import coordination, parts_of
from services.memory.narrative.encoder import encode
from services.memory.narrative.model import WHOLES, QueryClass
from services.memory.narrative.question import Query

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["CLASSES", "LEARNED", "Classifier", "class_features", "refine"]

LEARNED = Path(__file__).parent / "learned" / "asked.json"
CLASSES = tuple(QueryClass)
# The encoder's numbers are small beside yes and no.
SCALE = 4.0
FLAGS = ("now", "before", "own", "negative", "subject_own", "past", "definite")
FORMS = (
    *("who", "where", "when", "clock", "much", "many", "long", "old"),
    *("often", "name", "which", "feel", "why", "do", "how", "what"),
)


@dataclass(frozen=True, slots=True)
class Classifier:
    """A linear classifier.

    Attributes:
        weights: classes x features, in the order of `CLASSES` and `class_features`.
    """

    weights: "Floats"

    def likely(self, values: "Floats") -> "Floats":
        """How likely each class is; the sum is 1."""
        scores = self.weights @ values
        odds = np.exp(scores - scores.max())
        result: Floats = odds / odds.sum()
        return result

    def refine(self, query: Query) -> Query:
        """The question with its likeliest class, and how likely it is of a whole at all."""
        likely = dict(zip(CLASSES, self.likely(class_features(query)).tolist(), strict=True))
        best = max(CLASSES, key=lambda kind: likely[kind])
        whole = sum(likely[kind] for kind in WHOLES)
        return dataclasses.replace(query, query_class=best, whole=whole)


def class_features(query: Query) -> "Floats":
    """What the class is told by; `query` has the class that the rules give."""
    form = [float(query.form == name) for name in FORMS]
    ruled = [float(query.query_class is known) for known in CLASSES]
    flags = [float(bool(getattr(query, name))) for name in FLAGS]
    # Of one part, the rules know a whole when they see one; of several, conventions differ.
    one = len(parts_of(query.text)) == 1
    alone = [float(one and query.query_class is known) for known in CLASSES if known in WHOLES]
    several = coordination(query.text)
    return np.concatenate([SCALE * encode(query.text), ruled, alone, form, flags, several, [1.0]])


@functools.cache
def _learned(path: Path) -> Classifier:
    return Classifier(np.array(json.loads(path.read_text(encoding="utf-8")), dtype=np.float64))


def refine(query: Query, classifier: Classifier | None = None) -> Query:
    """The question with the class that form and meaning give it; None: as learned."""
    return (classifier or _learned(LEARNED)).refine(query)
