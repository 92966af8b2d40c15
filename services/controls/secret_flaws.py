"""Flaws of secrets: what a scanner does not know, and what is left in the file (S)."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence

from services.controls.flaw import Flaw, Parts, of_parts, of_policy
from services.memory.records import store
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import Observation, Scope, State
from services.memory.records.offers import Admitted
from services.memory.records.policy import Policy
from services.memory.records.writing import Writing

__all__ = ["FLAWS"]

_OTHER_ISSUERS = re.compile(
    r"(?:github_pat_|glpat-|npm_|pypi-|hf_|SG\.|GOCSPX-|dop_v1_|shpat_|lin_api_|dapi|xapp-|eyJ"
    r"|\d{9}:AA)[\w.=-]{16,}"
)
_CONNECTION = re.compile(r"[a-z0-9+]+://\S+|Server=\S+(?: Id=\S+)?")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BIN = "CREATE TABLE IF NOT EXISTS mem_bin (text TEXT NOT NULL)"


class _Overlooks(Policy):
    """Does not know some kinds of secrets."""

    unknown: frozenset[str] = frozenset()

    def secret_kinds(self, text: str) -> tuple[str, ...]:
        """What the reference finds, without those kinds."""
        found = super().secret_kinds(text)
        return tuple(kind for kind in found if kind not in self.unknown)


class _OverlooksPrivateKeys(_Overlooks):
    """Takes a private key for any long text."""

    unknown = frozenset({"private_key", "random_string"})


class _OverlooksPasswords(_Overlooks):
    """Knows no password that a sentence names."""

    unknown = frozenset({"password"})


class _OverlooksCards(_Overlooks):
    """Takes a card number for any number."""

    unknown = frozenset({"card_number"})


class _OverlooksConnections(_Overlooks):
    """Reads no address."""

    unknown = frozenset({"url_password"})

    def secret_kinds(self, text: str) -> tuple[str, ...]:
        """What the reference finds outside of connection strings."""
        return super().secret_kinds(_CONNECTION.sub(" ", text))


class _KnowsFewIssuers(Policy):
    """Knows the tokens of six issuers, and takes others' for any long word."""

    def secret_kinds(self, text: str) -> tuple[str, ...]:
        """What the reference finds outside of other issuers' tokens."""
        return super().secret_kinds(_OTHER_ISSUERS.sub(" ", text))


class _ReadsOneTurn(Policy):
    """Looks at each text by itself."""

    def split_secret_kinds(self, text: str, earlier: Sequence[str]) -> tuple[str, ...]:
        """Nothing: what came before is not looked at."""
        return ()


class _ReadsNoEncoding(Policy):
    """Takes what is encoded for what it looks like."""

    def secret_kinds(self, text: str) -> tuple[str, ...]:
        """What the reference finds in the text without its encoded parts."""
        return super().secret_kinds(_ENCODED.sub(_unless_encoded, text))


def _unless_encoded(match: re.Match[str]) -> str:
    """What matched, or a blank where it is readable text in base64 or hexadecimal."""
    token = match.group()
    body = token.rstrip("=").replace("-", "+").replace("_", "/")
    for decode in (bytes.fromhex, lambda text: base64.b64decode(text + "=" * (-len(text) % 4))):
        try:
            if decode(body).isascii() and decode(body).decode().isprintable():
                return " "
        except (ValueError, binascii.Error):
            continue
    return token


class _KeepsRejected(Writing):
    """Puts what it rejects aside, for whoever wants to look into it one day."""

    def write(self, observation: Observation) -> Admitted:
        """As the reference; the rejected text stays in the file."""
        admitted = super().write(observation)
        if admitted.standing.state is State.REJECTED:
            _put_aside(self._desk, observation.content)
        return admitted


class _KeepsForgotten(Lifecycle):
    """Forgets on every surface, and keeps a copy in the file."""

    def forget(self, scope: Scope, record_id: str) -> list[str]:
        """As the reference; the text is put aside before."""
        with self._desk.database.read() as conn:
            stored = store.find(conn, record_id)
        content = None if stored is None else stored.record.content
        changed = super().forget(scope, record_id)
        if content is not None:
            _put_aside(self._desk, content)
        return changed


def _put_aside(desk: Desk, text: str) -> None:
    with desk.database.transaction() as conn:
        conn.execute(_BIN)
        conn.execute("INSERT INTO mem_bin VALUES (?)", (text,))


FLAWS: Mapping[str, Flaw] = {
    "knows_few_issuers": of_policy(
        "knows_few_issuers",
        _KnowsFewIssuers,
        "knows the tokens of six issuers and of no other",
        "integrity.S.safety.tokens",
    ),
    "overlooks_private_keys": of_policy(
        "overlooks_private_keys",
        _OverlooksPrivateKeys,
        "keeps private keys",
        "integrity.S.safety.private_key",
    ),
    "overlooks_passwords": of_policy(
        "overlooks_passwords",
        _OverlooksPasswords,
        "keeps passwords that a sentence names",
        "integrity.S.safety.password",
        "integrity.S.safety.connection",
    ),
    "overlooks_cards": of_policy(
        "overlooks_cards",
        _OverlooksCards,
        "keeps card numbers",
        "integrity.S.safety.card",
    ),
    "overlooks_connections": of_policy(
        "overlooks_connections",
        _OverlooksConnections,
        "keeps connection strings with their passwords",
        "integrity.S.safety.connection",
    ),
    "reads_one_turn": of_policy(
        "reads_one_turn",
        _ReadsOneTurn,
        "keeps both halves of a key that comes in two turns",
        "integrity.S.safety.split",
    ),
    "reads_no_encoding": of_policy(
        "reads_no_encoding",
        _ReadsNoEncoding,
        "keeps keys in base64 and hexadecimal",
        "integrity.S.safety.base64",
        "integrity.S.utility.base64",
    ),
    "keeps_rejected": of_parts(
        "keeps_rejected",
        Parts(writing=_KeepsRejected),
        "what it rejects stays in its file",
        "integrity.S.residue.rejected",
    ),
    "keeps_forgotten": of_parts(
        "keeps_forgotten",
        Parts(lifecycle=_KeepsForgotten),
        "what it forgets stays in its file",
        "integrity.S.residue.forgotten",
    ),
}
"""One flaw for each case of S, and one for each kind of residue."""
