"""Language models that follow a script: one at the seam, one behind HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from pydantic import BaseModel

from schedmate.model import Answer, BadAnswer, Cost, LlmCall, ModelError, Subject, Tier
from schedmate.model.exam import ExamResult
from schedmate.model.ledger import Exchange

T = TypeVar("T", bound=BaseModel)

Scripted = BaseModel | dict[str, Any] | ModelError
Script = list[Scripted] | Callable[[type[BaseModel], str], Scripted]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that a scripted model was asked."""

    schema: type[BaseModel]
    prompt: str
    purpose: str
    system: str
    about: Subject | None = None


class ScriptedAsker:
    """Fulfils `model.ports.Asker` from a list of answers or a function of schema and prompt.

    An answer is a value, a dict that is validated, or a `ModelError` to raise.
    """

    def __init__(self, script: Script, tier: Tier = "choose") -> None:
        self.tier: Tier = tier
        self._script = script
        self.asked: list[Asked] = []

    def ask(
        self,
        schema: type[T],
        prompt: str,
        *,
        purpose: str,
        system: str = "",
        max_tokens: int = 256,  # noqa: ARG002 - the script is as long as it is
        about: Subject | None = None,
    ) -> Answer[T]:
        scripted = self._next(schema, prompt)
        self.asked.append(Asked(schema, prompt, purpose, system, about))
        if isinstance(scripted, ModelError):
            raise scripted
        data = scripted.model_dump() if isinstance(scripted, BaseModel) else scripted
        return Answer(schema.model_validate(data), Cost(llm_calls=1, llm_tokens=1))

    def _next(self, schema: type[BaseModel], prompt: str) -> Scripted:
        if callable(self._script):
            return self._script(schema, prompt)
        if len(self.asked) >= len(self._script):
            return BadAnswer("the scripted model has no answer left")
        return self._script[len(self.asked)]


class MemoryLedger:
    """Fulfils `model.ports.Ledger` without a file."""

    def __init__(self) -> None:
        self.calls: list[LlmCall] = []
        self.answers: dict[str, str] = {}
        self.exams: dict[str, ExamResult] = {}
        self.log: list[Exchange] = []

    def record_call(self, call: LlmCall) -> None:
        self.calls.append(call)

    def tokens_spent(self, *, since: float) -> int:
        recent = [call for call in self.calls if call.at >= since]
        return sum(call.prompt_tokens + call.answer_tokens for call in recent)

    def cached_answer(self, key: str) -> str | None:
        return self.answers.get(key)

    def cache_answer(self, key: str, answer: str) -> None:
        self.answers[key] = answer

    def keep_exchange(self, exchange: Exchange) -> None:
        self.log.append(exchange)

    def exchanges(
        self,
        *,
        user: str | None = None,
        job_id: str | None = None,
        purpose: str | None = None,
        limit: int = 20,
    ) -> Sequence[Exchange]:
        wanted = [
            one
            for one in reversed(self.log)
            if user in (None, one.user)
            and job_id in (None, one.job_id)
            and purpose in (None, one.purpose)
        ]
        return wanted[:limit]

    def exam_of(self, identity: str) -> ExamResult | None:
        return self.exams.get(identity)

    def keep_exam(self, result: ExamResult) -> None:
        self.exams[result.identity] = result


@dataclass(slots=True)
class ScriptedServer:
    """A chat-completions endpoint on loopback that answers each request by its script."""

    base_url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The body of every request, with its headers under `headers`."""
    closing: threading.Event = field(default_factory=threading.Event)


Behaviour = Callable[[BaseHTTPRequestHandler, ScriptedServer], None]


def says(
    content: str | dict[str, Any], *, finish: str = "stop", usage: dict[str, Any] | None = None
) -> Behaviour:
    """Answer with this text, or this value as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "finish_reason": finish, "message": {"content": text}}
    completion = {"choices": [choice], "usage": usage}
    return sends(json.dumps(completion).encode())


def sends(data: bytes, *, status: int = 200, kind: str = "application/json") -> Behaviour:
    """Send these bytes: garbage, a web page, an error."""

    def behave(handler: BaseHTTPRequestHandler, server: ScriptedServer) -> None:  # noqa: ARG001
        _send_head(handler, status, kind, len(data))
        handler.wfile.write(data)

    return behave


def refuses(status: int, message: str = "no") -> Behaviour:
    return sends(json.dumps({"error": {"message": message}}).encode(), status=status)


def web_page() -> Behaviour:
    return sends(b"<!doctype html><title>Sign in</title>", kind="text/html")


def no_choices() -> Behaviour:
    return sends(b'{"choices": []}')


def breaks_off(content: dict[str, Any]) -> Behaviour:
    """Promise a whole answer, send half of it and hang up."""
    data = json.dumps({"choices": [{"message": {"content": json.dumps(content)}}]}).encode()

    def behave(handler: BaseHTTPRequestHandler, server: ScriptedServer) -> None:  # noqa: ARG001
        _send_head(handler, 200, "application/json", len(data))
        handler.wfile.write(data[: len(data) // 2])

    return behave


def hangs() -> Behaviour:
    """Take the question and say nothing."""

    def behave(handler: BaseHTTPRequestHandler, server: ScriptedServer) -> None:  # noqa: ARG001
        server.closing.wait()

    return behave


def drips(data: bytes, *, every_s: float) -> Behaviour:
    """Send a byte now and then, from the first byte of the status line on."""

    def behave(handler: BaseHTTPRequestHandler, server: ScriptedServer) -> None:
        for byte in data:
            if server.closing.wait(every_s):
                return
            handler.wfile.write(bytes([byte]))

    return behave


@contextmanager
def serving(*script: Behaviour) -> Iterator[ScriptedServer]:
    """Serve the behaviours one a request; the last one stays."""
    scripted = ScriptedServer("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(scripted, list(script)))
    server.daemon_threads = True
    scripted.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _send_head(handler: BaseHTTPRequestHandler, status: int, kind: str, length: int) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(length))
    handler.end_headers()


def _handler(scripted: ScriptedServer, script: list[Behaviour]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._behave(body)

        def do_GET(self) -> None:
            self._behave({})

        def _behave(self, body: dict[str, Any]) -> None:
            turn = min(len(scripted.requests), len(script) - 1)
            scripted.requests.append({**body, "path": self.path, "headers": dict(self.headers)})
            with suppress(OSError):  # the client may have gone
                script[turn](self, scripted)
            self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    return Handler
