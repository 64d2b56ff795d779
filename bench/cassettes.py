"""Answers of a strong model that were given blind, replayed: a benchmark repeats without one.

A cassette is a file of JSON lines below `bench/corpora/answers`: the key of a question (a digest
of its messages and its schema), the answer, and the class of model that gave it. Questions are not
stored: they are made again by the command, so an answer is found only while it is asked the same.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from schedmate.config import LlmSettings
from schedmate.llm import open_asker
from schedmate.model import Asker, Ledger
from schedmate.testing.llm import MemoryLedger

ANSWERS = Path(__file__).parent / "corpora" / "answers"
_CHARACTERS_A_TOKEN = 4


@dataclass(slots=True)
class Cassette:
    """`missed` counts questions that no line answers."""

    answers: Mapping[str, str]
    missed: int = 0
    used: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, *files: Path) -> Cassette:
        rows = (json.loads(line) for file in files for line in file.read_text().splitlines())
        return cls({row["key"]: row["answer"] for row in rows})

    def answer(self, body: Mapping[str, Any]) -> str | None:
        key = key_of(body)
        self.used.add(key)
        self.missed += key not in self.answers
        return self.answers.get(key)


def key_of(body: Mapping[str, Any]) -> str:
    asked = {
        name: body[name] for name in ("messages", "response_format", "tools") if body.get(name)
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:24]


@contextmanager
def replaying(cassette: Cassette) -> Iterator[str]:
    """The base URL of an endpoint on loopback that answers from the cassette."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(cassette))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def asker_at(base_url: str, *, wait_s: float = 60.0, ledger: Ledger | None = None) -> Asker:
    """Asks a model that reads, without a budget."""
    settings = LlmSettings(
        base_url=base_url,
        model="relay",
        tier="read",
        deadline_s=wait_s,
        read_deadline_s=wait_s,
        read_token_budget=10**12,
        repair_turns=1,
    )
    asker = open_asker(settings, cache_dir=Path(), ledger=ledger or MemoryLedger())
    if asker is None:
        raise RuntimeError("an endpoint that is named is there")
    return asker


def _handler(cassette: Cassette) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = cassette.answer(body)
            if answer is None:
                self._reply(400, {"error": {"message": "not on the cassette"}})
                return
            used = {
                "prompt_tokens": len(json.dumps(body)) // _CHARACTERS_A_TOKEN,
                "completion_tokens": len(answer) // _CHARACTERS_A_TOKEN,
            }
            choice = {"index": 0, "finish_reason": "stop", "message": {"content": answer}}
            self._reply(200, {"choices": [choice], "usage": used})

        def _reply(self, status: int, payload: dict[str, Any]) -> None:
            data = json.dumps(payload).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
