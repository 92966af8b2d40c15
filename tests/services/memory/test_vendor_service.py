"""VendorService of the reference: declarations, digests, exports and resets."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import grpc
import pytest

from memqual.v1 import continuity_pb2, vendor_pb2
from services.common.canonical import JsonValue
from services.common.database import Database
from services.memory.model import Capability
from services.memory.process import Composition
from tests.services.memory.samples import LEASE_NS, receipt_message, spec
from tests.services.memory.serving import DEADLINE_SECONDS, ClockOfTest, Serve, Served


class RecordsOfTest:
    """A records part that keeps one item a namespace."""

    taint_order = ("web", "secret")

    def __init__(self) -> None:
        self.content = {"space": b"x" * (2 * 1024 * 1024 + 1), "other": b""}

    def registrar(self, server: grpc.Server) -> None:
        """Serves nothing."""

    def capabilities(self) -> list[vendor_pb2.CapabilityDeclaration]:
        return [
            vendor_pb2.CapabilityDeclaration(
                capability=vendor_pb2.CAPABILITY_SOURCE_TRUST,
                status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED,
                enforcement=vendor_pb2.ENFORCEMENT_NATIVE,
                limitation="one record",
            )
        ]

    def export(
        self, namespace: str, surface: vendor_pb2.Surface.ValueType
    ) -> Iterator[tuple[str, bytes]]:
        if surface == vendor_pb2.SURFACE_GRAPH and namespace in self.content:
            yield "item-1", self.content[namespace]

    def reset(self, conn: object, namespace: str) -> None:
        self.content.pop(namespace, None)

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        return [str(len(self.content[namespace]))] if namespace in self.content else []


def with_records(records: RecordsOfTest, clock: ClockOfTest) -> Composition:
    def create(database: Database, keys_path: Path | None) -> RecordsOfTest:
        return records

    return Composition(records=create, read_clock_ns=clock.read)


def state_hash(served: Served, namespace: str = "space") -> str:
    request = vendor_pb2.StateHashRequest(namespace=namespace)
    return served.vendor.StateHash(request, timeout=DEADLINE_SECONDS).digest


def export(
    served: Served, surface: vendor_pb2.Surface.ValueType, namespace: str = "space"
) -> list[vendor_pb2.ExportResponse]:
    request = vendor_pb2.ExportRequest(namespace=namespace, surface=surface)
    return list(served.vendor.Export(request, timeout=DEADLINE_SECONDS))


def reset(served: Served, namespace: str) -> None:
    served.vendor.Reset(vendor_pb2.ResetRequest(namespace=namespace), timeout=DEADLINE_SECONDS)


def specs(namespace: str = "space") -> tuple[continuity_pb2.OperationSpec, ...]:
    return (
        spec(call=f"done-{namespace}", namespace=namespace),
        spec(call=f"open-{namespace}", namespace=namespace),
        spec(Capability.QUERY, call=f"asked-{namespace}", namespace=namespace),
    )


def fill(served: Served, namespace: str = "space") -> list[str]:
    """One complete, one granted and one asked-about operation; returns the secrets."""
    done, open_one, asked = specs(namespace)
    granted = served.begin(done).execute
    served.record(done, granted, receipt_message(done, 1))
    tokens = [granted.lease_token, served.begin(open_one).execute.lease_token]
    tokens.append(served.begin(asked).execute.lease_token)
    served.clock.now_ns += LEASE_NS
    tokens.append(served.begin(asked, "life-2").query.query_ticket)
    return tokens


def test_describe_is_the_same_on_every_call_and_names_every_capability_once(
    served: Served,
) -> None:
    first = served.vendor.Describe(vendor_pb2.DescribeRequest(), timeout=DEADLINE_SECONDS)
    again = served.vendor.Describe(vendor_pb2.DescribeRequest(), timeout=DEADLINE_SECONDS)
    assert first == again
    statuses = {entry.capability: entry.status for entry in first.capabilities}
    assert len(statuses) == len(first.capabilities)
    assert set(statuses) == set(vendor_pb2.Capability.values()) - {
        vendor_pb2.CAPABILITY_UNSPECIFIED
    }
    absent = {
        capability
        for capability, status in statuses.items()
        if status == vendor_pb2.CAPABILITY_STATUS_ABSENT
    }
    assert absent == {vendor_pb2.CAPABILITY_ROLLBACK_DETECTION}
    assert list(first.scored_surfaces) == [
        value for value in vendor_pb2.Surface.values() if value != vendor_pb2.SURFACE_UNSPECIFIED
    ]
    assert first.limits == vendor_pb2.Limits(
        lease_seconds=120,
        max_renewals=10,
        max_operations_per_workflow=200,
        max_attempts_per_operation=100,
        max_revisions_per_operation=2_000,
        max_uncertain_queries=3,
        key_margin_seconds=0,
    )
    assert first.lease_clock == vendor_pb2.LEASE_CLOCK_WALL


def test_a_records_part_adds_what_it_declares(serve: Serve) -> None:
    served = serve(with_records(RecordsOfTest(), ClockOfTest()))
    description = served.vendor.Describe(vendor_pb2.DescribeRequest(), timeout=DEADLINE_SECONDS)
    entry = description.capabilities[0]
    assert entry.capability == vendor_pb2.CAPABILITY_SOURCE_TRUST
    assert entry.status == vendor_pb2.CAPABILITY_STATUS_SUPPORTED
    assert entry.limitation == "one record"
    assert list(description.taint_order) == ["web", "secret"]


def test_now_is_this_process_clock(served: Served) -> None:
    first = served.vendor.Now(vendor_pb2.NowRequest(), timeout=DEADLINE_SECONDS).clock
    second = served.vendor.Now(vendor_pb2.NowRequest(), timeout=DEADLINE_SECONDS).clock
    assert second.monotonic_ns > first.monotonic_ns
    assert first.wall_unix_ns > 0


def test_a_state_hash_is_equal_across_restarts_and_histories_and_tells_content_apart(
    serve: Serve,
) -> None:
    served = serve()
    empty = state_hash(served)
    assert state_hash(served, "never-seen") == empty
    fill(served)
    full = state_hash(served)
    assert full != empty
    served = serve()
    assert state_hash(served) == full
    # Another time, other tokens, other incarnations, more waits: the same content.
    reset(served, "space")
    assert state_hash(served) == empty
    served.clock.now_ns += 17 * LEASE_NS
    fill(served)
    served.begin(specs()[1], "life-9")
    assert state_hash(served) == full
    served.begin(spec(call="new"))
    assert state_hash(served) != full


def test_exports_hold_every_operation_and_no_secret(served: Served) -> None:
    secrets = fill(served)
    canonical = export(served, vendor_pb2.SURFACE_CANONICAL)
    documents = {item.item_id: json.loads(item.content) for item in canonical}
    assert set(documents) == {asked.operation_id for asked in specs()}
    done = documents[specs()[0].operation_id]
    assert done["receipt"]["result_json"] == receipt_message(specs()[0], 1).result_json
    audit = export(served, vendor_pb2.SURFACE_AUDIT)
    changes = [json.loads(item.content)["change"] for item in audit]
    assert sorted(changes) == ["asked", "completed_by_receipt", "granted", "granted", "granted"]
    assert len({item.item_id for item in audit}) == len(audit)
    everything = b"".join(item.content for item in (*canonical, *audit))
    assert not [secret for secret in secrets if secret.encode() in everything]


def test_a_surface_that_is_not_scored_is_refused(serve: Serve) -> None:
    served = serve(Composition(records=None))
    with pytest.raises(grpc.RpcError) as caught:
        export(served, vendor_pb2.SURFACE_MEDIA)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_long_items_come_in_pieces_and_empty_ones_come(serve: Serve) -> None:
    records = RecordsOfTest()
    served = serve(with_records(records, ClockOfTest()))
    pieces = export(served, vendor_pb2.SURFACE_GRAPH)
    assert [len(piece.content) for piece in pieces] == [1024 * 1024, 1024 * 1024, 1]
    assert {piece.item_id for piece in pieces} == {"item-1"}
    assert export(served, vendor_pb2.SURFACE_GRAPH, "other") == [
        vendor_pb2.ExportResponse(item_id="item-1")
    ]


def test_a_reset_removes_one_namespace_of_every_part(serve: Serve) -> None:
    records = RecordsOfTest()
    served = serve(with_records(records, ClockOfTest()))
    fill(served)
    fill(served, "other")
    other = state_hash(served, "other")
    reset(served, "space")
    assert not export(served, vendor_pb2.SURFACE_CANONICAL)
    assert not export(served, vendor_pb2.SURFACE_AUDIT)
    assert not export(served, vendor_pb2.SURFACE_GRAPH)
    assert state_hash(served) == state_hash(served, "never-seen")
    assert state_hash(served, "other") == other
    assert len(export(served, vendor_pb2.SURFACE_CANONICAL, "other")) == 3
    # What was removed is unknown again.
    assert served.begin(specs()[0]).HasField("execute")


def test_exports_page_through_a_large_namespace(serve: Serve) -> None:
    served = serve()
    ids = set()
    for workflow in range(6):
        for number in range(90):
            asked = spec(call=f"{workflow}-{number}", workflow=f"workflow-{workflow}")
            served.begin(asked)
            ids.add(asked.operation_id)
    items = [item.item_id for item in export(served, vendor_pb2.SURFACE_CANONICAL)]
    assert len(items) == len(ids) == 540
    assert set(items) == ids
    again = [item.item_id for item in export(served, vendor_pb2.SURFACE_CANONICAL)]
    assert again == items
