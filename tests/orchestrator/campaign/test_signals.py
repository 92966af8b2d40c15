"""Ctrl-C and SIGTERM: the first one cleans up in order, further ones wait for it."""

from __future__ import annotations

import signal
import threading

import pytest

from orchestrator.campaign.signals import StopSignals
from orchestrator.errors import EngineError

NUMBERS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_runs_what_was_asked_for_in_order_before_the_block_ends(
    number: signal.Signals,
) -> None:
    done: list[str] = []
    release = threading.Event()

    def slow() -> None:
        release.wait(10)
        done.append("first")

    with StopSignals() as signals:
        signals.on_stop(slow)
        signals.on_stop(lambda: done.append("second"))
        signal.raise_signal(number)
        # The handler has come back, and the clean-up is under way beside us.
        assert signals.stopping.is_set()
        assert done == []
        release.set()
    assert done == ["first", "second"]


def test_handlers_are_given_back() -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    with StopSignals():
        assert [signal.getsignal(number) for number in NUMBERS] != before
    assert [signal.getsignal(number) for number in NUMBERS] == before


def test_a_second_signal_changes_nothing() -> None:
    done: list[str] = []
    with StopSignals() as signals:
        signals.on_stop(lambda: done.append("once"))
        for number in (*NUMBERS, *NUMBERS):
            signal.raise_signal(number)
        signals.await_actions()
        signal.raise_signal(signal.SIGINT)
    assert done == ["once"]


def test_what_cannot_be_cleaned_up_keeps_nothing_else_from_it() -> None:
    done: list[str] = []

    def fails() -> None:
        raise EngineError("no engine", next_step="none")

    with StopSignals() as signals:
        signals.on_stop(fails)
        signals.on_stop(lambda: done.append("second"))
        signal.raise_signal(signal.SIGTERM)
    assert done == ["second"]


@pytest.mark.parametrize("number", NUMBERS)
def test_with_nothing_to_clean_up_a_signal_interrupts(number: signal.Signals) -> None:
    with StopSignals() as signals:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert signals.stopping.is_set()
        signal.raise_signal(number)


def test_without_a_signal_nothing_is_done() -> None:
    done: list[str] = []
    with StopSignals() as signals:
        signals.on_stop(lambda: done.append("never"))
        signals.await_actions()
    assert (done, signals.stopping.is_set()) == ([], False)
