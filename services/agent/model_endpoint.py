"""One OpenAI-compatible endpoint: settings from the environment, one bounded request.

What fails and may pass is tried again, a few times within one deadline. Nothing of a key, a request
or an answer reaches a log or an error: those tell a kind and a status.

    Exception
    ├── EndpointFailed      no answer: kind and status, final
    └── UnusableAnswer      an answer that is none of a chat completion's forms
"""

import json
import os
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import structlog
import tenacity

from services.common.canonical import JsonObject
from services.common.settings import SettingsError, env_or_none

__all__ = [
    "BASE_URL_VARIABLE",
    "KEY_VARIABLE",
    "NAME_VARIABLE",
    "ChatClient",
    "Endpoint",
    "EndpointFailed",
    "UnusableAnswer",
]

BASE_URL_VARIABLE = "MEMQUAL_MODEL_BASE_URL"
NAME_VARIABLE = "MEMQUAL_MODEL_NAME"
KEY_VARIABLE = "MEMQUAL_MODEL_API_KEY"

REQUEST_SECONDS = 120.0
TRY_SECONDS = 60.0
CONNECT_SECONDS = 10.0
TRIES = 4
WAIT_SECONDS = 0.5
WAIT_SECONDS_MAX = 8.0
ANSWER_BYTES_MAX = 1_048_576
_MAY_PASS = frozenset({408, 409, 425, 429, 500, 502, 503, 504})

_log = structlog.get_logger(__name__)


class EndpointFailed(Exception):
    """The endpoint gave no answer.

    Attributes:
        kind: `http_<status>`, `timeout`, `unreachable`, `too_long` or `stopped`.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(f"the model's endpoint failed: {kind}")
        self.kind = kind


class UnusableAnswer(Exception):
    """The endpoint answered something that nobody can use; says what, never its text."""


class _MayPass(Exception):
    """A failure that another try may not meet."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where models are asked.

    Attributes:
        base_url: address before `/chat/completions`.
        model: name that requests carry.
        api_key: sent as a bearer token; empty for none. Never shown.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)

    @classmethod
    def from_environment(cls) -> "Endpoint | None":
        """The endpoint of MEMQUAL_MODEL_BASE_URL, _NAME and _API_KEY; None where none is named.

        Raises:
            SettingsError: one of the first two is missing, or the address is none.
        """
        base_url, model = env_or_none(BASE_URL_VARIABLE), env_or_none(NAME_VARIABLE)
        if base_url is None and model is None:
            return None
        if base_url is None or model is None:
            missing = BASE_URL_VARIABLE if base_url is None else NAME_VARIABLE
            raise SettingsError(f"{missing} is not set; set it, or neither of the two")
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(f"{BASE_URL_VARIABLE} is no http or https address")
        if parts.username or parts.password or parts.query:
            # An address is told in errors and logs of libraries.
            raise SettingsError(f"{BASE_URL_VARIABLE} holds a secret; put it into {KEY_VARIABLE}")
        return cls(base_url.rstrip("/"), model, os.environ.get(KEY_VARIABLE, ""))


class ChatClient:
    """Asks one endpoint; safe to use from many threads.

    Args:
        endpoint: where.
        stopping: set when the host stops; ends waits between tries.
        request_seconds: for one request with all of its tries.
        wait_seconds: before the second try; doubled before each further one.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        stopping: threading.Event,
        *,
        request_seconds: float = REQUEST_SECONDS,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._endpoint = endpoint
        self._stopping = stopping
        self._request_seconds = request_seconds
        self._wait_seconds = wait_seconds
        headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        self._client = httpx.Client(headers=headers, follow_redirects=False)

    @property
    def model(self) -> str:
        """Name of the model that is asked for."""
        return self._endpoint.model

    def complete(self, body: JsonObject) -> JsonObject:
        """The endpoint's JSON object to one chat-completions request.

        Raises:
            EndpointFailed: no answer within tries and deadline, or a refusal.
            UnusableAnswer: it is no JSON object.
        """
        deadline = time.monotonic() + self._request_seconds
        retrying = tenacity.Retrying(
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(TRIES),
                tenacity.stop_before_delay(self._request_seconds),
                tenacity.stop_when_event_set(self._stopping),
            ),
            wait=tenacity.wait_exponential(self._wait_seconds, max=WAIT_SECONDS_MAX),
            retry=tenacity.retry_if_exception_type(_MayPass),
            sleep=tenacity.sleep_using_event(self._stopping),
            before_sleep=_log_retry,
            reraise=True,
        )
        try:
            text = retrying(self._post, body, deadline)
        except _MayPass as failure:
            raise EndpointFailed(failure.kind) from None
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            # Their texts quote the answer.
            raise UnusableAnswer("the answer is no JSON") from None
        if not isinstance(answer, dict):
            raise UnusableAnswer("the answer is no JSON object")
        return answer

    def close(self) -> None:
        """Ends every request under way. Idempotent."""
        self._client.close()

    def _post(self, body: JsonObject, deadline: float) -> bytes:
        if self._stopping.is_set():
            raise EndpointFailed("stopped")
        left_seconds = max(0.001, min(TRY_SECONDS, deadline - time.monotonic()))
        timeout = httpx.Timeout(left_seconds, connect=min(CONNECT_SECONDS, left_seconds))
        try:
            with self._client.stream(
                "POST",
                f"{self._endpoint.base_url}/chat/completions",
                json={**body, "model": self._endpoint.model},
                timeout=timeout,
            ) as response:
                _raise_for_status(response.status_code)
                return _read(response, time.monotonic() + left_seconds)
        except httpx.TimeoutException:
            raise _MayPass("timeout") from None
        except (httpx.HTTPError, httpx.StreamError, RuntimeError):
            # A client that is closed meanwhile raises RuntimeError.
            raise _MayPass("unreachable") from None


def _raise_for_status(status: int) -> None:
    if status in _MAY_PASS:
        raise _MayPass(f"http_{status}")
    if not httpx.codes.is_success(status):
        raise EndpointFailed(f"http_{status}")


def _read(response: httpx.Response, deadline: float) -> bytes:
    """The answer's bytes; a timeout of httpx is of one read, this one is of all."""
    read = bytearray()
    for piece in response.iter_bytes():
        read += piece
        if len(read) > ANSWER_BYTES_MAX:
            raise EndpointFailed("too_long")
        if time.monotonic() > deadline:
            raise _MayPass("timeout")
    return bytes(read)


def _log_retry(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    kind = error.kind if isinstance(error, _MayPass) else ""
    _log.warning("model_asked_again", cause=kind, tries=state.attempt_number)
