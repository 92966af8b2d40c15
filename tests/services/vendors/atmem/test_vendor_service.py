"""Describe, clocks, hashes, exports and removal; vendor.yaml claims what is declared."""

import time
from pathlib import Path

import grpc
import pytest
import yaml

from memqual.v1 import vendor_pb2
from services.vendors.atmem.describe import describe
from services.vendors.atmem.vaults import Vaults
from tests.services.vendors.atmem.conftest import DEADLINE_SECONDS, Served, status_of
from tests.services.vendors.atmem.samples import spec

ROOT = Path(__file__).resolve().parents[4]
SUPPORTED = vendor_pb2.CAPABILITY_STATUS_SUPPORTED


def _export(
    served: Served, surface: vendor_pb2.Surface.ValueType, namespace: str = "space"
) -> list[vendor_pb2.ExportResponse]:
    request = vendor_pb2.ExportRequest(namespace=namespace, surface=surface)
    return list(served.vendor.Export(request, timeout=DEADLINE_SECONDS))


def _state(served: Served, namespace: str = "space") -> str:
    request = vendor_pb2.StateHashRequest(namespace=namespace)
    return served.vendor.StateHash(request, timeout=DEADLINE_SECONDS).digest


@pytest.mark.parametrize("continuity", [True, False])
def test_every_capability_is_declared_once(continuity: bool) -> None:
    declared = [one.capability for one in describe("2.3", continuity=continuity).capabilities]
    wanted = [one for one in vendor_pb2.Capability.values() if one]
    assert sorted(declared) == sorted(wanted)


@pytest.mark.parametrize("continuity", [True, False])
def test_every_capability_says_what_it_does_not_cover(continuity: bool) -> None:
    for one in describe("2.3", continuity=continuity).capabilities:
        assert 0 < len(one.limitation.encode()) <= 1_024
        native = one.enforcement == vendor_pb2.ENFORCEMENT_NATIVE
        assert native is (one.status == SUPPORTED)


def test_without_the_package_nothing_of_continuity_is_declared() -> None:
    told = describe("2.3.6", continuity=False)
    assert (told.limits, told.lease_clock) == (
        vendor_pb2.Limits(),
        vendor_pb2.LEASE_CLOCK_UNSPECIFIED,
    )
    lost = _supported(describe("2.3.10")) - _supported(told)
    assert lost == {"continuity"}


def _supported(told: vendor_pb2.DescribeResponse) -> set[str]:
    return {
        vendor_pb2.Capability.Name(one.capability).removeprefix("CAPABILITY_").lower()
        for one in told.capabilities
        if one.status == SUPPORTED
    }


@pytest.mark.parametrize(
    ("name", "version", "continuity"), [("atmem", "2.3.10", True), ("atmem-2.3.6", "2.3.6", False)]
)
def test_vendor_yaml_claims_what_is_declared(name: str, version: str, continuity: bool) -> None:
    claimed = yaml.safe_load((ROOT / f"compose/vendors/{name}.yaml").read_text())
    told = describe(version, continuity=continuity)
    assert set(claimed["capabilities"]) == _supported(told)
    assert claimed.get("lease", {}).get("seconds", 0) == told.limits.lease_seconds
    locked = (ROOT / f"requirements/vendors/{name}.lock").read_text()
    assert f"\natmem=={version} " in locked


def test_describe_and_now_answer(served: Served) -> None:
    request = vendor_pb2.DescribeRequest()
    assert served.vendor.Describe(request, timeout=DEADLINE_SECONDS) == describe("2.3.10")
    before = time.time_ns()
    clock = served.vendor.Now(vendor_pb2.NowRequest(), timeout=DEADLINE_SECONDS).clock
    assert before <= clock.wall_unix_ns <= time.time_ns()


def test_exports_and_hashes_follow_what_is_kept(served: Served) -> None:
    empty = _state(served)
    assert _export(served, vendor_pb2.SURFACE_CANONICAL) == []
    served.begin(spec())
    assert _state(served) != empty
    [item] = _export(served, vendor_pb2.SURFACE_CANONICAL)
    assert item.item_id.startswith("vault/")
    assert spec().operation_id.encode() in item.content
    assert len(_export(served, vendor_pb2.SURFACE_AUDIT)) == 1


def test_a_removed_namespace_is_as_never_seen(served: Served) -> None:
    empty = _state(served)
    served.begin(spec())
    served.begin(spec(namespace="other"))
    for _ in range(2):
        served.vendor.Reset(vendor_pb2.ResetRequest(namespace="space"), timeout=DEADLINE_SECONDS)
    served.vaults.by_folder = {
        folder: kept for folder, kept in served.vaults.by_folder.items() if folder.exists()
    }
    assert len(served.vaults.by_folder) == 1
    assert _state(served) == empty
    assert served.begin(spec()).execute.attempt == 1


@pytest.mark.parametrize("surface", [vendor_pb2.SURFACE_UNSPECIFIED, vendor_pb2.SURFACE_MEDIA])
def test_a_surface_that_is_not_scored_is_refused(
    served: Served, surface: vendor_pb2.Surface.ValueType
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        _export(served, surface)
    assert status_of(refused.value) is grpc.StatusCode.INVALID_ARGUMENT


def test_a_removal_that_was_cut_short_is_finished_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / "removed" / "half"
    left.mkdir(parents=True)
    (left / "file").touch()
    Vaults(tmp_path)
    assert list((tmp_path / "removed").iterdir()) == []


def test_namespaces_have_folders_of_their_own(tmp_path: Path) -> None:
    vaults = Vaults(tmp_path)
    names = ["a", "A", "a/b", "..", "\u00e9"]
    assert len({vaults.household(name) for name in names}) == len(names)
    assert all(tmp_path in vaults.continuity(name).parents for name in names)
    assert vaults.lock("a") is vaults.lock("a")
