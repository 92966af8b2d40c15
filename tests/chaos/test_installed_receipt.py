"""A receipt of an installed product names every proof that is lacking."""

import pytest

from chaos.receipts import InstalledReceipt, ServiceOrigin, WheelProof, parse_receipt

TESTBED = ("chaos", "orchestrator")
ORIGIN = ServiceOrigin(
    service="agent",
    distribution="memqual-services==0.1.0",
    modules=12,
    elsewhere=(),
    testbed_found=(),
    testbed_refused=("chaos", "orchestrator", "tests"),
    search_path=("code",),
    working_folder="work",
)


def receipt(**changes: object) -> InstalledReceipt:
    whole = InstalledReceipt(
        wheel=WheelProof(name="memqual-services", version="0.1.0", sha256="0" * 64),
        expected=("agent",),
        forbidden=TESTBED,
        origins=(ORIGIN,),
        operations_before=1,
        operations_after=1,
    )
    return whole.model_copy(update=changes)


def test_a_whole_receipt_lacks_nothing_and_is_read_back() -> None:
    whole = receipt()
    assert whole.missing() == []
    assert parse_receipt(whole.model_dump_json()) == whole


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [
        ({"distribution": ""}, "agent: code of memqual-services==0.1.0 (seen: none)"),
        ({"distribution": "memqual==0.1.0"}, "agent: code of memqual-services==0.1.0"),
        ({"elsewhere": ("checkout/services/agent/app.py",)}, "agent: modules of the wheel alone"),
        ({"modules": 0}, "agent: modules of the wheel alone (seen: no module)"),
        ({"testbed_found": ("chaos in checkout",)}, "agent: that it finds no testbed (seen: chaos"),
        ({"testbed_refused": ("chaos",)}, "agent: that it finds no testbed (seen: not looked for)"),
    ],
)
def test_each_missing_proof_is_named(changes: dict[str, object], lacking: str) -> None:
    (told,) = receipt(origins=(ORIGIN.model_copy(update=changes),)).missing()
    assert told.startswith(lacking)


def test_every_expected_service_must_tell() -> None:
    silent = receipt(expected=("agent", "memory"))
    assert silent.missing() == ["memory: where its code is from"]
    assert receipt(expected=()).missing() == ["installed: no service had to tell"]
