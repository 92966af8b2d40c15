"""Static word vectors (wordllama, in the wheel): how near two words are that no list connects.

No network and no context: a word's vector is the mean of its pieces' vectors, equal on every host.
"""

import functools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from wordllama.inference import WordLlamaInference

__all__ = ["vectors", "whole_vectors"]

WORDS_KEPT = 50_000

_lock = threading.Lock()


@functools.cache
def _model() -> "WordLlamaInference":
    import wordllama

    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(disable_download=True, cache_dir=folder)


@functools.lru_cache(maxsize=WORDS_KEPT)
def _vector(text: str) -> "NDArray[np.float32]":
    with _lock:
        raw = _model().embed([text], norm=True)[0]
    vector: NDArray[np.float32] = np.nan_to_num(np.asarray(raw, dtype=np.float32))
    return vector


def whole_vectors(texts: Sequence[str]) -> "NDArray[np.float32]":
    """One row a text of any length; equal texts are worked out once a call."""
    if not texts:
        return np.zeros((0, 256), dtype=np.float32)
    distinct = list(dict.fromkeys(texts))
    with _lock:
        raw = _model().embed(distinct, norm=True)
    rows = np.nan_to_num(np.asarray(raw, dtype=np.float32))
    place = {text: row for row, text in enumerate(distinct)}
    result: NDArray[np.float32] = rows[[place[text] for text in texts]]
    return result


def vectors(texts: Sequence[str]) -> "NDArray[np.float32]":
    """One row a text, of length 1 (0 for a text without a known piece)."""
    if not texts:
        return np.zeros((0, 256), dtype=np.float32)
    return np.stack([_vector(text) for text in texts])
