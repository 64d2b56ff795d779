"""Services that cannot be reached, refuse, or take the port: with real sockets."""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.corpora.failures.produce.making import Job, Run, main, run_command
from bench.corpora.failures.produce.trainers import trainer


class _Refuses(http.server.BaseHTTPRequestHandler):
    status = 401

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_HEAD = do_GET  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Say nothing: the log is the job's."""


@contextmanager
def _server(status: int) -> Iterator[int]:
    handler = type("Handler", (_Refuses,), {"status": status})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


def _against(status: int, command: str = "python -u train.py") -> Run:
    def run(work: Path, env: dict[str, str]) -> int:
        with _server(status) as port:
            return run_command(command, work, {**env, "PORT": str(port), **_hub(port)})

    return run


def _hub(port: int) -> dict[str, str]:
    return {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": "cache"}


def _beside_listener(command: str) -> Run:
    def run(work: Path, env: dict[str, str]) -> int:
        with socket.socket(socket.AF_INET6) as taken:
            taken.bind(("::", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            return run_command(command, work, {**env, "PORT": port})

    return run


_POST = """import os
import urllib.request


def prepare():
    request = urllib.request.Request(f"http://127.0.0.1:{os.environ['PORT']}/api/runs", b"{}")
    return urllib.request.urlopen(request).read()
"""
_HUB = "from transformers import AutoConfig\n\n\ndef prepare():\n    return AutoConfig.from_pretrained('acme/secret-7b')"
_GLOO = """import os
import torch.distributed as dist


def prepare():
    os.environ.setdefault('MASTER_ADDR', '127.0.0.1')
    os.environ['MASTER_PORT'] = os.environ['PORT']
    dist.init_process_group('gloo', rank=0, world_size=1)
    return {}
"""

JOBS = [
    Job(
        name="service_unknown_host",
        reason="service_unreachable",
        cause=(
            "Name or service not known",
            "Temporary failure in name resolution",
            "Failed to resolve",
        ),
        files=trainer(
            "print",
            "import requests\n\n\ndef prepare():\n"
            "    return requests.get('https://tracking.internal.invalid/api/2.0/runs', timeout=5)",
        ),
    ),
    Job(
        name="service_refused_tracking",
        reason="service_unreachable",
        cause=("Connection refused",),
        files=trainer(
            "logging",
            "import urllib.request\n\n\ndef step(state, i):\n    if i == 12:\n"
            "        urllib.request.urlopen('http://127.0.0.1:9/log', timeout=5)\n    return 1.0",
        ),
        command="bash job.sh",
    ),
    Job(
        name="service_hub_unreachable",
        reason="service_unreachable",
        cause=("We couldn't connect to", "Connection refused", "ConnectError", "offline"),
        files=trainer("caught", _HUB),
        env={"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": "cache"},
    ),
    Job(
        name="service_pip_index",
        reason="service_unreachable",
        cause=("Connection refused", "No matching distribution", "NewConnectionError"),
        files={
            "job.sh": "set -e\necho 'installing extra requirements'\n"
            "python -m pip install --retries 1 --timeout 2 --index-url http://127.0.0.1:9/simple "
            "einops-exts==0.0.4\npython train.py\n"
        },
        command="PIP_CONFIG_FILE=/dev/null bash job.sh",
    ),
    Job(
        name="service_gateway_503",
        reason="service_unreachable",
        cause=("503",),
        files=trainer("print", _POST),
        run=_against(503),
    ),
    Job(
        name="auth_unauthorised_tracking",
        reason="auth_error",
        cause=("HTTP Error 401: Unauthorized",),
        files=trainer("logging", _POST),
        run=_against(401),
    ),
    Job(
        name="auth_forbidden_upload",
        reason="auth_error",
        cause=("403",),
        files=trainer(
            "tqdm",
            "import os, requests\n\n\ndef step(state, i):\n    if i == 20:\n"
            "        requests.post(f\"http://127.0.0.1:{os.environ['PORT']}/v1/artifacts\", timeout=5)"
            ".raise_for_status()\n    return 0.4",
        ),
        run=_against(403),
    ),
    Job(
        name="auth_hub_gated",
        reason="auth_error",
        cause=("401",),
        files=trainer("print", _HUB),
        run=_against(401),
    ),
    Job(
        name="port_taken_gloo",
        reason="port_conflict",
        cause=("EADDRINUSE", "ddress already in use"),
        files=trainer("print", _GLOO),
        run=_beside_listener("python -u train.py"),
    ),
    Job(
        name="port_taken_dashboard",
        reason="port_conflict",
        cause=("Address already in use",),
        files=trainer(
            "logging",
            "import http.server, os\n\n\ndef prepare():\n"
            "    http.server.HTTPServer(('', int(os.environ['PORT'])), http.server.BaseHTTPRequestHandler)",
        ),
        run=_beside_listener("bash job.sh"),
    ),
    Job(
        name="rendezvous_missing_rank",
        reason="rendezvous",
        cause=("Timed out", "timed out"),
        files=trainer(
            "caught",
            "import datetime\nimport torch.distributed as dist\n\n\ndef prepare():\n"
            "    store = 'tcp://127.0.0.1:29733'\n"
            "    dist.init_process_group('gloo', init_method=store, rank=0, world_size=2, "
            "timeout=datetime.timedelta(seconds=3))",
        ),
    ),
    Job(
        name="rendezvous_no_master",
        reason="rendezvous",
        cause=("timed out", "Timed out", "timeout"),
        accept=("service_unreachable",),
        files=trainer(
            "print",
            "import datetime\nimport torch.distributed as dist\n\n\ndef prepare():\n"
            "    dist.init_process_group('gloo', init_method='tcp://127.0.0.1:29734', rank=1, "
            "world_size=2, timeout=datetime.timedelta(seconds=4))",
        ),
    ),
    Job(
        name="rendezvous_torchrun_missing_node",
        reason="rendezvous",
        cause=("RendezvousTimeoutError", "RendezvousConnectionError", "timed out"),
        files=trainer("print", ""),
        command="torchrun --nnodes=2 --nproc-per-node=1 --rdzv-backend=c10d "
        "--rdzv-endpoint=localhost:29736 --rdzv-conf=join_timeout=5 train.py",
    ),
]

if __name__ == "__main__":
    main(JOBS)
