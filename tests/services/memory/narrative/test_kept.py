"""Values by text: each made once, begun ahead or not, and bounded in all."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.narrative.kept import Kept


class Maker:
    """Makes a text's length; counts, and can be held."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.threads: set[int] = set()
        self.go = threading.Event()
        self.go.set()
        self.begun = threading.Event()

    def __call__(self, text: str) -> int:
        self.begun.set()
        assert self.go.wait(10)
        if text.startswith("bad"):
            message = f"cannot make {text}"
            raise ValueError(message)
        self.made.append(text)
        self.threads.add(threading.get_ident())
        return len(text)


def _kept(maker: Maker, *, bytes_max: int = 1_000, ahead_max: int = 8) -> Kept[int]:
    return Kept(maker, lambda value: value, bytes_max=bytes_max, ahead_max=ahead_max)


def _asked_while_under_way(kept: Kept[int], maker: Maker, text: str) -> int:
    """The value of a text that is asked for while another thread makes it."""
    maker.go.clear()
    kept.ahead([text])
    assert maker.begun.wait(10)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(kept.get, text)
        maker.go.set()
        return asked.result(timeout=10)


def test_a_value_is_made_once() -> None:
    maker = Maker()
    kept = _kept(maker)
    assert [kept.get("ab"), kept.get("abc"), kept.get("ab")] == [2, 3, 2]
    assert maker.made == ["ab", "abc"]
    assert kept.size_bytes == 5


def test_what_was_sent_ahead_is_made_by_another_thread_and_once() -> None:
    maker = Maker()
    kept = _kept(maker)
    kept.ahead(["ab", "abc", "ab"])
    while kept.size_bytes < 5:
        threading.Event().wait(0.001)
    assert [kept.get("ab"), kept.get("abc")] == [2, 3]
    assert maker.made == ["ab", "abc"]
    assert threading.get_ident() not in maker.threads


def test_what_still_waits_is_made_at_once_by_who_asks() -> None:
    maker = Maker()
    kept = _kept(maker)
    maker.go.clear()
    kept.ahead(["first", "second"])
    assert maker.begun.wait(10)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(kept.get, "second")
        maker.go.set()
        assert asked.result(timeout=10) == 6
    assert kept.get("first") == 5
    assert sorted(maker.made) == ["first", "second"]


def test_what_is_under_way_is_waited_for() -> None:
    maker = Maker()
    kept = _kept(maker)
    assert _asked_while_under_way(kept, maker, "first") == 5
    assert maker.made == ["first"]


def test_no_more_than_so_many_wait() -> None:
    maker = Maker()
    kept = _kept(maker, ahead_max=2)
    maker.go.clear()
    kept.ahead(["a", "bb", "ccc", "dddd"])
    maker.go.set()
    assert [kept.get(text) for text in ("a", "bb")] == [1, 2]
    # Both threads may make one: which of them ends first is not said.
    assert sorted(maker.made) == ["a", "bb"]
    kept.ahead(["ccc"])
    assert kept.get("ccc") == 3


def test_an_error_is_of_who_asks_and_takes_nothing_with_it() -> None:
    maker = Maker()
    kept = _kept(maker)
    with pytest.raises(ValueError, match="bad one"):
        _asked_while_under_way(kept, maker, "bad one")
    with pytest.raises(ValueError, match="bad two"):
        kept.get("bad two")
    assert kept.get("good") == 4
    assert kept.size_bytes == 4


def test_what_is_done_with_makes_room_first() -> None:
    maker = Maker()
    kept = _kept(maker, bytes_max=6)
    for text in ("aa", "bb", "cc"):
        kept.get(text)
    kept.done_with(["bb", "never seen"])
    kept.get("dd")
    for text in ("aa", "cc", "dd"):
        kept.get(text)
    assert maker.made == ["aa", "bb", "cc", "dd"]
    kept.get("bb")
    assert maker.made[-1] == "bb"


def test_nothing_is_begun_any_more_while_the_process_ends() -> None:
    maker = Maker()
    kept = _kept(maker)
    kept._aside.shutdown()
    kept.ahead(["ab"])
    assert kept.get("ab") == 2


def test_one_that_is_larger_than_the_bound_is_kept_alone() -> None:
    maker = Maker()
    kept = _kept(maker, bytes_max=3)
    kept.get("a")
    assert kept.get("a" * 9) == 9
    assert kept.get("a" * 9) == 9
    assert maker.made == ["a", "a" * 9]


@given(
    st.lists(
        st.tuples(st.sampled_from(["get", "ahead", "done"]), st.text("ab", min_size=1, max_size=5)),
        max_size=40,
    ),
    st.integers(1, 12),
)
def test_any_order_of_calls_gives_right_values_within_the_bound(
    calls: list[tuple[str, str]], bytes_max: int
) -> None:
    kept = _kept(Maker(), bytes_max=bytes_max, ahead_max=3)
    for name, text in calls:
        if name == "get":
            assert kept.get(text) == len(text)
        elif name == "ahead":
            kept.ahead([text])
        else:
            kept.done_with([text])
        assert kept.size_bytes <= max(bytes_max, 5)
