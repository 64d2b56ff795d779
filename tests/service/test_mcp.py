"""`schedmate mcp`, asked by the official client and by hand."""

from __future__ import annotations

import io
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from schedmate.config import Settings
from schedmate.mcp.protocol import McpServer
from schedmate.mcp.tools import Tool, tools_of
from schedmate.model import BadInput, JobState, Match, NotFound
from schedmate.service.wiring import open_store
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run, a_prediction, an_advice

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def parameters(tmp_path):
    """A server that reads a state directory with a past failure and a run like it."""
    settings = Settings(state_dir=tmp_path / "state")
    with closing(open_store(settings)) as store:
        failed = a_job(id="7", name="gpt", state=JobState.FAILED)
        store.keep_run(a_past_run(job=failed))
        store.keep_diagnosis("7", 0, a_diagnosis("gpu_oom"))
        made = a_prediction(matches=(Match(job_id="6", similarity=0.9, duration_s=60.0),))
        store.keep_advice("7", KeptAdvice(an_advice(prediction=made), None))
        store.keep_run(a_past_run(job=a_job(id="6", state=JobState.COMPLETED)))
    env = {
        **{name: value for name, value in os.environ.items() if "SCHEDMATE" not in name},
        "PYTHONPATH": str(SOURCE),
        "SCHEDMATE_STATE_DIR": str(tmp_path / "state"),
    }
    return StdioServerParameters(command=sys.executable, args=["-m", "schedmate", "mcp"], env=env)


@pytest.mark.processes
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_gets_answers(parameters, mode):
    async def session():
        with anyio.fail_after(120):
            async with Client(stdio_client(parameters), mode=mode) as client:
                tools = (await client.list_tools()).tools
                assert {tool.name for tool in tools} == {
                    *("list_jobs", "why", "eta", "similar_jobs", "show_job"),
                }
                assert all(tool.annotations.read_only_hint for tool in tools)
                why = await client.call_tool("why", {"job_id": "7"})
                assert not why.is_error
                assert why.structured_content["diagnosis"]["reason"] == "gpu_oom"
                assert "gpu_oom" in why.structured_content["answer"]
                eta = await client.call_tool("eta", {"job_id": "7"})
                assert "has ended" in eta.structured_content["answer"]
                alike = await client.call_tool("similar_jobs", {"job_id": "7"})
                assert [run["job_id"] for run in alike.structured_content["runs"]] == ["6"]
                listed = await client.call_tool("list_jobs", {"state": "RUNNING"})
                assert listed.structured_content == {"jobs": [], "total": 0}
                whole = await client.call_tool("show_job", {"job_id": "7"})
                assert whole.structured_content["job"]["name"] == "gpt"
                missing = await client.call_tool("why", {"job_id": "77"})
                assert missing.is_error
                assert "knows a job 77" in missing.content[0].text

    in_a_new_loop(session)


def in_a_new_loop(session):
    """In a thread of its own: a browser that another test drives keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, session).result()


def test_a_client_runs_where_another_loop_runs():
    async def around():
        in_a_new_loop(anyio.lowlevel.checkpoint)

    in_a_new_loop(around)


def asked(*messages, tools=()):
    lines = b"".join(
        one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages
    )
    out = io.BytesIO()
    McpServer(tools).serve(io.BytesIO(lines), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def request(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"{nonsense\n", -32700),
        (b"[" * 5000 + b"\n", -32700),
        ([], -32600),
        ({"id": 1, "method": "ping"}, -32600),
        (request("tools/remove"), -32601),
        (request("tools/call", name="rm"), -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        (request("ping", _meta={"io.modelcontextprotocol/protocolVersion": "1999-01-01"}), -32022),
    ],
)
def test_what_cannot_be_answered_is_an_error_and_not_the_end(message, code):
    wrong, right = asked(message, request("ping"))
    assert wrong["error"]["code"] == code
    assert right["result"] == {}


def test_notifications_are_not_answered():
    assert asked({"jsonrpc": "2.0", "method": "notifications/initialized"}, b"\n") == []


def a_tool(answer):
    return Tool(
        name="t",
        title="",
        description="",
        properties={"job_id": {"type": "string"}},
        required=("job_id",),
        answer=answer,
    )


@pytest.mark.parametrize(
    "arguments", [{}, {"job_id": 3}, {"job_id": "1", "more": 1}, [1], {"job_id": None}]
)
def test_wrong_arguments_are_named_to_the_assistant(arguments):
    [found] = asked(
        request("tools/call", name="t", arguments=arguments),
        tools=[a_tool(lambda _: pytest.fail("called"))],
    )
    assert found["result"]["isError"]


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [("integer", "x", "n must be an integer"), ("string", 1, "n must be a string")],
)
def test_the_kind_of_an_argument_is_named(kind, value, sentence):
    tool = Tool(
        name="t", title="", description="", properties={"n": {"type": kind}}, answer=lambda _: {}
    )
    with pytest.raises(BadInput, match=sentence):
        tool.call({"n": value})


def test_an_assistant_learns_which_states_there_are():
    class NoJobs:
        def views(self):
            return []

    tools = tools_of(NoJobs(), lambda: 0.0, str)
    [found] = asked(
        request("tools/call", name="list_jobs", arguments={"state": "crashed"}), tools=tools
    )
    assert found["result"]["isError"]
    assert "the states are PENDING" in found["result"]["content"][0]["text"]


def test_secrets_do_not_leave_the_machine():
    key = "sk-abcdefghijklmnopqrstuvwxyz"
    [found] = asked(
        request("tools/call", name="t", arguments={"job_id": "1"}),
        tools=[a_tool(lambda _: {"line": f"export OPENAI_API_KEY={key}"})],
    )
    assert key not in json.dumps(found)
    assert found["result"]["structuredContent"]


def test_an_error_of_ours_is_a_sentence():
    def answer(_):
        raise NotFound("there is no such job")

    [found] = asked(
        request("tools/call", name="t", arguments={"job_id": "1"}), tools=[a_tool(answer)]
    )
    assert found["result"]["content"][0]["text"] == "there is no such job"
