"""Who may send telemetry: each sender has a token of its own (DESIGN §4).

Without tokens whoever reaches the port may send, and nothing is kept of who did. With them a call
must carry `authorization: Bearer <token>`; the sender that the token belongs to is kept with each
event, whatever the event itself says.
"""

import hmac
import json
from collections.abc import Mapping

import grpc

from services.common.errors import ServiceError
from services.common.limits import ID_BYTES
from services.common.settings import SettingsError, env_or_none

__all__ = ["TOKENS_VARIABLE", "Senders"]

TOKENS_VARIABLE = "MEMQUAL_INGEST_TOKENS"
_KEY = "authorization"
_SCHEME = "Bearer "
_SENDERS_MAX = 100


class Senders:
    """The senders that are known.

    Args:
        tokens: token → sender; empty: nobody has to prove anything.
    """

    def __init__(self, tokens: Mapping[str, str]) -> None:
        self._tokens = {token.encode(): sender for token, sender in tokens.items()}

    @classmethod
    def from_environment(cls) -> "Senders":
        """The senders of MEMQUAL_INGEST_TOKENS, a JSON object of token to sender.

        Raises:
            SettingsError: it is set and no such object; no value of it is told.
        """
        text = env_or_none(TOKENS_VARIABLE)
        if text is None:
            return cls({})
        problem = f"{TOKENS_VARIABLE} is no JSON object of tokens to senders; set it or leave it"
        try:
            tokens = json.loads(text)
        except ValueError:
            # The error quotes the text, which holds tokens.
            raise SettingsError(problem) from None
        if not isinstance(tokens, dict) or not 1 <= len(tokens) <= _SENDERS_MAX:
            raise SettingsError(problem)
        for token, sender in tokens.items():
            fits = isinstance(sender, str) and 1 <= len(sender.encode()) <= ID_BYTES
            if not (token and token.isascii() and fits):
                raise SettingsError(problem)
        return cls(tokens)

    def check(self, context: grpc.ServicerContext) -> str:
        """The sender of a call; empty where nobody has to prove anything.

        Raises:
            ServiceError: PERMISSION_DENIED, the call carries none of the tokens.
        """
        if not self._tokens:
            return ""
        given = _bearer(context)
        for token, sender in self._tokens.items():
            if hmac.compare_digest(token, given):
                return sender
        raise ServiceError(
            grpc.StatusCode.PERMISSION_DENIED,
            f"this observer wants a sender's token in metadata {_KEY}",
        )


def _bearer(context: grpc.ServicerContext) -> bytes:
    for key, value in context.invocation_metadata() or ():
        if key == _KEY and isinstance(value, str) and value.startswith(_SCHEME):
            return value.removeprefix(_SCHEME).encode()
    return b""
