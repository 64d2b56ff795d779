"""A model's recorded answers, given again: an endpoint on loopback that knows nothing else.

A cassette is a file of JSON lines, packed or not: `key`, `ask` and `answer`. The key is the digest
of what was asked, so that an answer is never given to another question.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parent / "corpora" / "answers"
_ASKED = ("messages", "response_format", "tools")
_CHARACTERS_A_TOKEN = 4


def key_of(body: dict[str, Any]) -> str:
    ask = {name: body[name] for name in _ASKED if body.get(name)}
    return hashlib.sha256(json.dumps(ask, sort_keys=True).encode()).hexdigest()[:24]


def read_cassettes(*paths: Path) -> dict[str, str]:
    """Answers by key, of all files or of all cassettes in a directory."""
    known: dict[str, str] = {}
    for path in paths:
        files = sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]
        for file in files:
            data = file.read_bytes()
            lines = (gzip.decompress(data) if file.suffix == ".gz" else data).splitlines()
            known |= {row["key"]: row["answer"] for row in map(json.loads, lines)}
    return known


@contextmanager
def replaying(known: dict[str, str]) -> Iterator[str]:
    """The base URL of an endpoint that gives these answers, and refuses everything else."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(known))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(known: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    class Replay(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = known.get(key_of(body))
            if answer is None:
                self._reply(503, {"error": {"message": "no such question was recorded"}})
                return
            choice = {"index": 0, "finish_reason": "stop", "message": {"content": answer}}
            sent = len(json.dumps(body)) // _CHARACTERS_A_TOKEN
            said = len(answer) // _CHARACTERS_A_TOKEN
            usage = {"prompt_tokens": sent, "completion_tokens": said}
            self._reply(200, {"choices": [choice], "usage": usage})

        def _reply(self, status: int, payload: dict[str, Any]) -> None:
            data = json.dumps(payload).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_args: object) -> None:
            pass

    return Replay
