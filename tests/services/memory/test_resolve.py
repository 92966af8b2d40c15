"""An operator's decision over the wire: challenge, signature, single use."""

import base64
import json
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import digest_hex, sha256_hex
from services.common.challenges import signing_bytes
from services.common.database import Database
from services.common.errors import ServiceError
from services.memory.decisions import DecisionRules
from services.memory.model import Policy
from services.memory.operations import Operations
from services.memory.recordings import RecordingRules
from services.memory.resolutions import Resolutions
from tests.services.memory.samples import (
    LEASE_NS,
    RESULT_JSON,
    SECOND_NS,
    binding,
    receipt_message,
    spec,
)
from tests.services.memory.serving import DEADLINE_SECONDS, Serve, Served

DENIED = grpc.StatusCode.PERMISSION_DENIED
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
WORDS = {
    continuity_pb2.OPERATOR_DECISION_HAPPENED: "happened",
    continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN: "did_not_happen",
    continuity_pb2.OPERATOR_DECISION_ABANDON: "abandon",
}


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    entries = [
        {
            "key_id": name,
            "principal": principal,
            "public_key_base64": base64.b64encode(KEY.public_key().public_bytes_raw()).decode(),
        }
        for name, principal in (("k1", "operator"), ("k2", "somebody"))
    ]
    path.write_text(json.dumps({"keys": entries}))
    return path


def challenge_for(served: Served, asked: continuity_pb2.OperationSpec) -> common_pb2.Challenge:
    request = continuity_pb2.RequestResolveRequest(
        namespace=asked.namespace, operation_id=asked.operation_id, principal="operator"
    )
    return served.continuity.RequestResolve(request, timeout=DEADLINE_SECONDS).challenge


def signed(
    challenge: common_pb2.Challenge,
    decision: continuity_pb2.OperatorDecision.ValueType,
    *,
    result_json: str = "",
    key: Ed25519PrivateKey = KEY,
) -> continuity_pb2.ResolveRequest:
    digest = sha256_hex(result_json.encode()) if result_json else ""
    message = signing_bytes(challenge, WORDS[decision], result_digest=digest)
    return continuity_pb2.ResolveRequest(
        challenge_id=challenge.challenge_id,
        decision=decision,
        result_json=result_json,
        key_id="k1",
        signature=key.sign(message),
    )


def code_of(served: Served, request: continuity_pb2.ResolveRequest) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as caught:
        served.continuity.Resolve(request, timeout=DEADLINE_SECONDS)
    code: grpc.StatusCode = caught.value.code()
    return code


def test_a_challenge_names_the_operation_as_it_stands(serve: Serve, keys: Path) -> None:
    served = serve(keys=keys)
    asked = spec()
    served.begin(asked)
    challenge = challenge_for(served, asked)
    assert list(challenge.subject_ids) == [asked.operation_id]
    assert list(challenge.subject_digests) == [
        digest_hex({"attempt": 1, "arguments_digest": asked.arguments_digest})
    ]
    assert (challenge.action, challenge.principal) == ("resolve", "operator")
    assert len(bytes.fromhex(challenge.nonce)) == 32


def test_happened_completes_after_a_restart(serve: Serve, keys: Path) -> None:
    served = serve(keys=keys)
    asked = spec()
    served.begin(asked)
    challenge = challenge_for(served, asked)
    served = serve(keys=keys)
    request = signed(challenge, continuity_pb2.OPERATOR_DECISION_HAPPENED, result_json=RESULT_JSON)
    served.continuity.Resolve(request, timeout=DEADLINE_SECONDS)
    served = serve(keys=keys)
    reused = served.begin(asked, "life-2").reuse.receipt
    assert (reused.attempt, reused.result_json) == (1, RESULT_JSON)
    assert reused.result_digest == sha256_hex(RESULT_JSON.encode())
    assert code_of(served, request) is DENIED


def test_did_not_happen_licenses_one_attempt_and_abandon_none(serve: Serve, keys: Path) -> None:
    served = serve(keys=keys)
    asked = spec()
    served.begin(asked)
    served.clock.now_ns += LEASE_NS
    assert served.begin(asked, "life-2").HasField("confirm")
    request = signed(challenge_for(served, asked), continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN)
    served.continuity.Resolve(request, timeout=DEADLINE_SECONDS)
    assert served.begin(asked, "life-2").execute.attempt == 2
    served.clock.now_ns += LEASE_NS
    assert served.begin(asked, "life-3").HasField("confirm")
    assert code_of(served, request) is DENIED
    request = signed(challenge_for(served, asked), continuity_pb2.OPERATOR_DECISION_ABANDON)
    served.continuity.Resolve(request, timeout=DEADLINE_SECONDS)
    decision = served.begin(asked, "life-3")
    assert (decision.HasField("confirm"), decision.reason_code) == (True, "operator_abandoned")
    get = continuity_pb2.GetOperationRequest(
        namespace=asked.namespace, operation_id=asked.operation_id
    )
    record = served.continuity.GetOperation(get, timeout=DEADLINE_SECONDS).operation
    assert (record.state, record.attempt) == (continuity_pb2.OPERATION_STATE_ABANDONED, 2)


@pytest.mark.parametrize(
    "case", ["signature", "decision", "result", "key", "principal", "unknown", "expired", "moved"]
)
def test_what_does_not_authorise_changes_nothing(serve: Serve, keys: Path, case: str) -> None:
    served = serve(keys=keys)
    asked = spec()
    granted = served.begin(asked).execute
    challenge = challenge_for(served, asked)
    happened = continuity_pb2.OPERATOR_DECISION_HAPPENED
    request = signed(challenge, happened, result_json=RESULT_JSON)
    match case:
        case "signature":
            request = signed(challenge, happened, result_json=RESULT_JSON, key=OTHER_KEY)
        case "decision":
            request.decision = continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN
            request.result_json = ""
        case "result":
            request.result_json = "{}"
        case "key":
            request.key_id = "nobody"
        case "principal":
            request.key_id = "k2"
        case "unknown":
            request.challenge_id = "nothing"
        case "expired":
            served.clock.now_ns += 3_600 * SECOND_NS
        case "moved":
            served.record(asked, granted, receipt_message(asked, 1, result_json="{}"))
    assert code_of(served, request) is DENIED
    if case != "moved":
        assert not served.begin(asked, "life-2").HasField("reuse")


@pytest.mark.parametrize(
    "changes",
    [
        {"decision": continuity_pb2.OPERATOR_DECISION_UNSPECIFIED},
        {"result_json": ""},
        {"result_json": "[]"},
        {"decision": continuity_pb2.OPERATOR_DECISION_ABANDON},
        {"challenge_id": ""},
        {"key_id": ""},
    ],
)
def test_a_malformed_decision_is_refused(
    serve: Serve, keys: Path, changes: dict[str, object]
) -> None:
    served = serve(keys=keys)
    asked = spec()
    served.begin(asked)
    request = signed(
        challenge_for(served, asked),
        continuity_pb2.OPERATOR_DECISION_HAPPENED,
        result_json=RESULT_JSON,
    )
    for name, value in changes.items():
        setattr(request, name, value)
    assert code_of(served, request) is grpc.StatusCode.INVALID_ARGUMENT


def test_there_must_be_something_to_resolve(served: Served) -> None:
    asked = spec()
    with pytest.raises(grpc.RpcError) as caught:
        challenge_for(served, asked)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    served.record(asked, served.begin(asked).execute, receipt_message(asked, 1))
    with pytest.raises(grpc.RpcError) as caught:
        challenge_for(served, asked)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION


def test_challenges_are_bounded_by_the_revisions(tmp_path: Path) -> None:
    policy = Policy(max_revisions=3)
    database = Database(tmp_path / "memory.db")
    operations = Operations(database, DecisionRules(policy), RecordingRules())
    resolutions = Resolutions(database, RecordingRules(), policy, {})
    asked = binding()
    operations.begin(asked, "life-1", "b1")
    for _ in range(2):
        resolutions.request(asked.namespace, asked.operation_id, "operator")
    with pytest.raises(ServiceError) as caught:
        resolutions.request(asked.namespace, asked.operation_id, "operator")
    database.close()
    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
