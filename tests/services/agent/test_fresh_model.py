"""A fresh model's answers, from a real socket: what is asked, what is used, and every failure."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from structlog.testing import capture_logs

from memqual.v1 import agent_pb2
from services.agent.conversation import Answer, Usage
from services.agent.fresh_model import ANSWER_TRIES, TEXT_BYTES_MAX, FreshModel
from services.agent.model_endpoint import (
    ANSWER_BYTES_MAX,
    BASE_URL_VARIABLE,
    KEY_VARIABLE,
    NAME_VARIABLE,
    TRIES,
    ChatClient,
    Endpoint,
)
from services.agent.stops import Failed
from services.common.settings import SettingsError
from tests.services.agent.scripted_endpoint import (
    Reply,
    Script,
    ScriptedEndpoint,
    called,
    in_order,
    said,
    scripted_endpoint,
)

KEY = "key-that-nobody-sees"
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}
]
FRESH = agent_pb2.FreshConversation(
    opening="Hello.",
    agent_instructions="You serve.",
    user_instructions="You ask.",
    tools_json=json.dumps(TOOLS),
    stop_token="###STOP###",
    answers_max=6,
)
OPENING = AIMessage(content="Hello.", id="opening")
TALK: list[AnyMessage] = [
    OPENING,
    HumanMessage(content="My order?", id="u"),
    AIMessage(content="", id="m", tool_calls=[tool_call(name="get_order", args={"n": 1}, id="c")]),
    ToolMessage(content='{"value":1}', tool_call_id="c", id="c-result"),
]


@contextmanager
def model_of(
    script: Script, *, request_seconds: float = 20.0
) -> Iterator[tuple[FreshModel, ScriptedEndpoint]]:
    with scripted_endpoint(script) as endpoint:
        client = ChatClient(
            Endpoint(endpoint.base_url, "asked-for", KEY),
            threading.Event(),
            request_seconds=request_seconds,
            wait_seconds=0.01,
        )
        model = FreshModel(client)
        try:
            yield model, endpoint
        finally:
            model.close()


def test_the_agents_model_sees_all_and_may_call() -> None:
    with model_of(in_order(said("It is on its way."))) as (model, endpoint):
        answer = model.answer(FRESH, "agent", TALK)
    assert answer == Answer("It is on its way.", usage=Usage(10, 5), model="scripted")
    (asked,) = endpoint.asked
    assert (asked.path, asked.authorization) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert asked.body == {
        "model": "asked-for",
        "tools": TOOLS,
        "messages": [
            {"role": "system", "content": "You serve."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "My order?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "get_order", "arguments": '{"n":1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": '{"value":1}'},
        ],
    }


def test_the_users_model_sees_what_was_said_only() -> None:
    with model_of(in_order(said("Thanks. ###STOP###", usage=None))) as (model, endpoint):
        answer = model.answer(FRESH, "user", [*TALK, AIMessage(content="Soon.", id="n")])
    assert (answer.ends, answer.usage) == (True, None)
    (asked,) = endpoint.asked
    assert "tools" not in asked.body
    assert asked.body["messages"] == [
        {"role": "system", "content": "You ask."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "My order?"},
        {"role": "user", "content": "Soon."},
    ]


def test_calls_are_canonical_and_in_order() -> None:
    reply = called(("get_order", '{"b": 1, "a": [2.50]}'), ("get_order", {}))
    with model_of(in_order(reply)) as (model, _):
        answer = model.answer(FRESH, "agent", TALK)
    assert [(one.tool, one.arguments_json) for one in answer.calls] == [
        ("get_order", '{"a":[2.5],"b":1}'),
        ("get_order", "{}"),
    ]
    assert answer.text == ""


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again(status: int) -> None:
    with model_of(in_order(Reply(status), Reply(status), said("Fine."))) as (model, endpoint):
        assert model.answer(FRESH, "agent", TALK).text == "Fine."
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize("status", [429, 500])
def test_what_does_not_pass_ends_after_bounded_tries(status: int) -> None:
    with (
        model_of(in_order(Reply(status, KEY.encode()))) as (model, endpoint),
        pytest.raises(Failed) as caught,
    ):
        model.answer(FRESH, "agent", TALK)
    assert caught.value.error == f"UNAVAILABLE: model: http_{status}"
    assert len(endpoint.asked) == TRIES


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404])
def test_a_refusal_is_final(status: int) -> None:
    with (
        model_of(in_order(Reply(status))) as (model, endpoint),
        pytest.raises(Failed, match=f"model: http_{status}"),
    ):
        model.answer(FRESH, "agent", TALK)
    assert len(endpoint.asked) == 1


def test_an_endpoint_that_does_not_answer_in_time_fails() -> None:
    slow = Reply(delay_seconds=5.0)
    with (
        model_of(in_order(slow), request_seconds=0.5) as (model, _),
        pytest.raises(Failed, match="model: timeout"),
    ):
        model.answer(FRESH, "agent", TALK)


def test_an_endpoint_that_is_not_there_fails() -> None:
    with scripted_endpoint(in_order(said("never"))) as gone:
        address = gone.base_url
    client = ChatClient(Endpoint(address, "m"), threading.Event(), wait_seconds=0.01)
    with pytest.raises(Failed, match="model: unreachable"):
        FreshModel(client).answer(FRESH, "agent", TALK)


UNUSABLE = {
    "no JSON": Reply(body=b"<html>"),
    "no JSON object": Reply(body=b"[]"),
    "no message": Reply(body=b'{"choices": []}'),
    "neither text nor calls": said("  "),
    "text is too long": said("x" * (TEXT_BYTES_MAX + 1)),
    "that was not offered": called(("drop_tables", {})),
    "arguments are no JSON": called(("get_order", '{"n": ')),
    "arguments are no JSON object": called(("get_order", "[1]")),
    "more than 16 calls": called(*[("get_order", {})] * 17),
}


@pytest.mark.parametrize("cause", UNUSABLE)
def test_an_answer_of_no_use_is_asked_for_again_and_then_told(cause: str) -> None:
    with model_of(in_order(UNUSABLE[cause], said("Better."))) as (model, endpoint):
        assert model.answer(FRESH, "agent", TALK).text == "Better."
    assert len(endpoint.asked) == 2
    with (
        model_of(in_order(UNUSABLE[cause])) as (model, endpoint),
        pytest.raises(Failed, match=cause),
    ):
        model.answer(FRESH, "agent", TALK)
    assert len(endpoint.asked) == ANSWER_TRIES


def test_a_users_model_that_calls_is_of_no_use() -> None:
    with (
        model_of(in_order(called(("get_order", {})))) as (model, _),
        pytest.raises(Failed, match="user's model asks for calls"),
    ):
        model.answer(FRESH, "user", [OPENING])


def test_an_answer_beyond_every_bound_is_not_read() -> None:
    with (
        model_of(in_order(Reply(body=b" " * (ANSWER_BYTES_MAX + 1)))) as (model, _),
        pytest.raises(Failed, match="model: too_long"),
    ):
        model.answer(FRESH, "agent", TALK)


@pytest.mark.parametrize(
    "usage", [{}, {"prompt_tokens": -1, "completion_tokens": 1}, {"prompt_tokens": True}, [1]]
)
def test_a_usage_that_is_none_stays_unknown(usage: object) -> None:
    body = {"choices": [{"message": {"content": "Fine."}}], "usage": usage}
    with model_of(in_order(Reply(body=json.dumps(body).encode()))) as (model, _):
        assert model.answer(FRESH, "agent", TALK) == Answer("Fine.")


def test_a_conversation_has_so_many_answers_and_no_more() -> None:
    said_so_far: list[AnyMessage] = [
        OPENING,
        *[HumanMessage(content="again", id=f"u{n}") for n in range(6)],
    ]
    with (
        model_of(in_order(said("never"))) as (model, endpoint),
        pytest.raises(Failed, match="model: turn_limit"),
    ):
        model.answer(FRESH, "agent", said_so_far)
    assert endpoint.asked == []


def test_the_key_is_in_no_log_and_no_representation() -> None:
    with capture_logs() as logs, model_of(in_order(Reply(500, KEY.encode()))) as (model, endpoint):
        with pytest.raises(Failed) as caught:
            model.answer(FRESH, "agent", TALK)
        shown = repr(Endpoint(endpoint.base_url, "m", KEY))
    assert logs
    assert KEY not in str(logs) + shown + str(caught.value) + repr(caught.value.__cause__)


def test_without_an_endpoint_every_question_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (BASE_URL_VARIABLE, NAME_VARIABLE, KEY_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Failed, match="no endpoint is named"):
        FreshModel.from_environment().answer(FRESH, "agent", TALK)


@pytest.mark.parametrize(
    ("base_url", "name", "named"),
    [
        ("http://localhost/v1", "", NAME_VARIABLE),
        ("", "m", BASE_URL_VARIABLE),
        ("ftp://localhost", "m", BASE_URL_VARIABLE),
        ("localhost:8000", "m", BASE_URL_VARIABLE),
        (f"http://user:{KEY}@localhost/v1", "m", KEY_VARIABLE),
        (f"http://localhost/v1?key={KEY}", "m", KEY_VARIABLE),
    ],
)
def test_half_an_endpoint_is_a_bad_setting(
    base_url: str, name: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BASE_URL_VARIABLE, base_url)
    monkeypatch.setenv(NAME_VARIABLE, name)
    with pytest.raises(SettingsError, match=named) as caught:
        Endpoint.from_environment()
    assert KEY not in str(caught.value)
