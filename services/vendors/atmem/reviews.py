"""RequestReview and DecideReview: the contract's challenge in front of atmem's own review.

atmem takes the decision of a reviewer whom its configuration trusts, for one scope, once. Who that
is, and that they mean exactly these records, a host has to know: here by the signature over the
challenge, with the mounted keys. The gate itself (a proposal stays pending, a record quarantined)
is atmem's.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import grpc
from google.protobuf import json_format

from memqual.v1 import common_pb2, memory_pb2
from services.common.canonical import sha256_hex
from services.common.challenges import PublicKey, signature_valid, signing_bytes
from services.common.clock import NANOSECONDS_PER_SECOND
from services.common.errors import ServiceError
from services.common.limits import check_id, check_optional_id
from services.common.platform import atomic_write_bytes, fsync_dir

__all__ = ["APPROVE", "PROMOTE", "REJECT", "RELEASE", "Desk", "check_request"]

APPROVE: Final = "approve"
REJECT: Final = "reject"
PROMOTE: Final = "promote"
RELEASE: Final = "release"

_SUBJECTS_MAX: Final = 100
_OPEN_MAX: Final = 1_000
_SECONDS: Final = 900
_DECISIONS: Final = {
    memory_pb2.REVIEW_DECISION_APPROVE: APPROVE,
    memory_pb2.REVIEW_DECISION_REJECT: REJECT,
}


def check_request(request: memory_pb2.RequestReviewRequest) -> tuple[str, ...]:
    """The record ids of a request; raises ServiceError INVALID_ARGUMENT."""
    ids = tuple(check_id("record_ids", one) for one in request.record_ids)
    if not 1 <= len(ids) <= _SUBJECTS_MAX or len(set(ids)) != len(ids):
        raise _refused(f"record_ids has {len(ids)} entries; send 1 to {_SUBJECTS_MAX}, each once")
    if request.action not in (PROMOTE, RELEASE):
        raise _refused(f"action is unknown; send {PROMOTE} or {RELEASE}")
    return ids


class Desk:
    """Issues challenges and checks decisions; each open challenge is one file of its namespace.

    The caller holds the namespace's lock.
    """

    def __init__(
        self, keys: Mapping[str, PublicKey], read_clock_ns: Callable[[], int] = time.time_ns
    ) -> None:
        """Trusts these keys; challenges expire by this clock."""
        self._keys = keys
        self._now_ns = read_clock_ns

    def issue(
        self,
        folder: Path,
        scope: memory_pb2.Scope,
        subjects: Sequence[tuple[str, str]],
        action: str,
    ) -> common_pb2.Challenge:
        """A challenge for these (record id, content) in this order.

        Raises:
            ServiceError: RESOURCE_EXHAUSTED: too many are open.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if self._open_after_sweep(folder) >= _OPEN_MAX:
            raise ServiceError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"{_OPEN_MAX} challenges are open; decide some or let them expire",
            )
        challenge = common_pb2.Challenge(
            challenge_id="chl_" + secrets.token_hex(16),
            nonce=secrets.token_hex(32),
            subject_ids=[record_id for record_id, _ in subjects],
            subject_digests=[sha256_hex(content.encode()) for _, content in subjects],
            action=action,
            principal=scope.principal,
            expires_unix_ns=self._now_ns() + _SECONDS * NANOSECONDS_PER_SECOND,
            namespace=scope.namespace,
        )
        issued = memory_pb2.RequestReviewResponse(challenge=challenge)
        kept = [json_format.MessageToJson(one, indent=None) for one in (issued, scope)]
        atomic_write_bytes(_file(folder, challenge.challenge_id), "\n".join(kept).encode())
        return challenge

    def take(
        self, folder: Path, request: memory_pb2.DecideReviewRequest
    ) -> tuple[common_pb2.Challenge, str]:
        """The challenge that a decision answers, and the decision; both are checked.

        Raises:
            ServiceError: INVALID_ARGUMENT: no decision. PERMISSION_DENIED: unknown, of another
                scope, expired, of an unknown or unfit key, or not signed by it.
        """
        check_id("challenge_id", request.challenge_id)
        check_optional_id("key_id", request.key_id)
        decision = _DECISIONS.get(request.decision)
        if decision is None:
            raise _refused("decision is not set to a known value")
        challenge, scope = _read(_file(folder, request.challenge_id))
        if challenge is None or scope != request.scope:
            raise _denied("no such open challenge in this scope")
        self._check_time(folder, challenge)
        key = self._keys.get(request.key_id)
        if key is None or not key.speaks_for(challenge.principal):
            raise _denied("the key is unknown or does not speak for the challenge's principal")
        if not signature_valid(key, request.signature, signing_bytes(challenge, decision)):
            raise _denied("the signature is not over this challenge and this decision")
        return challenge, decision

    def _check_time(self, folder: Path, challenge: common_pb2.Challenge) -> None:
        now_ns = self._now_ns()
        if now_ns >= challenge.expires_unix_ns:
            # For good: a clock that is set back does not bring it back.
            self.close(folder, challenge.challenge_id)
            raise _denied("the challenge has expired; request a new one")
        if now_ns < challenge.expires_unix_ns - _SECONDS * NANOSECONDS_PER_SECOND:
            raise _denied("the clock stands before the challenge was issued; ask again later")

    def close(self, folder: Path, challenge_id: str) -> None:
        """Uses a challenge up, durably, before its decision is carried out."""
        _file(folder, challenge_id).unlink(missing_ok=True)
        fsync_dir(folder)

    def _open_after_sweep(self, folder: Path) -> int:
        now_ns, open_count = self._now_ns(), 0
        for path in folder.glob("*.json"):
            challenge, _ = _read(path)
            if challenge is None or now_ns >= challenge.expires_unix_ns:
                path.unlink(missing_ok=True)
            else:
                open_count += 1
        return open_count


def _read(path: Path) -> tuple[common_pb2.Challenge | None, memory_pb2.Scope]:
    try:
        challenge, scope = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError):
        return None, memory_pb2.Scope()
    issued = json_format.Parse(challenge, memory_pb2.RequestReviewResponse())
    return issued.challenge, json_format.Parse(scope, memory_pb2.Scope())


def _file(folder: Path, challenge_id: str) -> Path:
    return folder / f"{sha256_hex(challenge_id.encode())}.json"


def _refused(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def _denied(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.PERMISSION_DENIED, message)
