import asyncio

import grpc
import grpc.aio
import pytest

from services.common.channels import CHANNEL_OPTIONS, CallMetadata, open_aio_channel, open_channel


def test_a_channel_neither_retries_nor_shares_its_connection() -> None:
    options = dict(CHANNEL_OPTIONS)
    assert options["grpc.enable_retries"] == 0
    assert options["grpc.use_local_subchannel_pool"] == 1
    assert (
        options["grpc.initial_reconnect_backoff_ms"],
        options["grpc.max_reconnect_backoff_ms"],
    ) == (50, 100)
    # The time that one attempt to connect may take.
    assert options["grpc.min_reconnect_backoff_ms"] == 1_000
    assert not [name for name in options if "keepalive" in name]


def test_both_kinds_of_channel_open() -> None:
    with open_channel("127.0.0.1:1") as channel:
        assert isinstance(channel, grpc.Channel)

    async def open_and_close() -> bool:
        async with open_aio_channel("127.0.0.1:1") as channel:
            return isinstance(channel, grpc.aio.Channel)

    assert asyncio.run(open_and_close())


def test_metadata_has_a_pair_for_each_value_and_none_for_the_rest() -> None:
    assert CallMetadata().pairs() == ()
    assert CallMetadata(run="", operation="operation", attempt=0).pairs() == (
        ("memqual-operation", "operation"),
        ("memqual-attempt", "0"),
    )
    full = CallMetadata("r", "w", "o", 7, "i", "t", "memory")
    assert full.pairs() == (
        ("memqual-run", "r"),
        ("memqual-workflow", "w"),
        ("memqual-operation", "o"),
        ("memqual-attempt", "7"),
        ("memqual-incarnation", "i"),
        ("memqual-token", "t"),
        ("memqual-target", "memory"),
    )


@pytest.mark.parametrize("value", ["é", "a\nb", "x" * 129])
def test_metadata_that_cannot_be_carried_unchanged_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="memqual-workflow"):
        CallMetadata(workflow=value).pairs()
