"""The benchmark measures what it says; how fast is for `make bench` to tell."""

import pytest

from chaos.bench_interposer import Overhead, measure


def test_ratio_is_of_what_is_added() -> None:
    overhead = Overhead(
        calls=1,
        direct_p50_ms=0.5,
        empty_proxy_p50_ms=1.0,
        interposer_p50_ms=1.1,
        interposer_p99_ms=2.0,
    )
    assert overhead.added_p50_ms == pytest.approx(0.6)
    assert overhead.added_ratio == pytest.approx(1.2)


@pytest.mark.nightly
def test_all_three_ways_are_measured() -> None:
    overhead = measure(turns=2)
    assert overhead.calls == 200
    assert 0 < overhead.direct_p50_ms < overhead.empty_proxy_p50_ms
    assert overhead.interposer_p50_ms > overhead.direct_p50_ms
