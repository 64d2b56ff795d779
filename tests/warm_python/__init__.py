"""Programs without the start of their interpreter and its imports, which cost more than they do."""

from __future__ import annotations

import os
import select
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from warm_python import client

HERE = Path(__file__).parent
OF_VERBS = (
    *("schedmate.cli", "schedmate.config", "schedmate.service.wiring"),
    *("schedmate.store.sqlite", "schedmate.schedulers.local", "schedmate.schedulers.slurm"),
    *("schedmate.advisor.advisor", "schedmate.handler.handler", "schedmate.tracker"),
    *("schedmate.service.views.job_view", "schedmate.service.usecases.submit_command"),
)
STARTS_WITHIN_S = 300.0


@dataclass(frozen=True, slots=True)
class Running:
    channel: socket.socket

    def has_ended(self) -> bool:
        return bool(select.select([self.channel], [], [], 0)[0])

    def wait(self) -> int:
        return client.wait(self.channel)


@dataclass(frozen=True, slots=True)
class WarmPython:
    address: str

    def start(
        self,
        words: list[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        files: tuple[int, int, int],
    ) -> Running:
        return Running(client.begin(self.address, words, str(cwd), dict(env), list(files)))

    def run(
        self, words: list[str], *, cwd: Path, env: Mapping[str, str], text: bytes = b""
    ) -> tuple[int, bytes, bytes]:
        """The exit code, and what was printed."""
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(text)
            for file in (given, out, err):
                file.seek(0)
            files = given.fileno(), out.fileno(), err.fileno()
            code = self.start(words, cwd=cwd, env=env, files=files).wait()
            for file in (out, err):
                file.seek(0)
            return code, out.read(), err.read()

    def script(self, *words: str) -> str:
        """For a shell: what runs a program with these words and the script's own."""
        ask = (sys.executable, "-I", "-S", str(HERE / "client.py"), self.address, *words)
        return f'#!/bin/sh\nexec {shlex.join(ask)} "$@"\n'


@contextmanager
def warm_python(
    python: Path, modules: tuple[str, ...], env: Mapping[str, str] | None = None
) -> Iterator[WarmPython]:
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/socket"
        with subprocess.Popen(
            [python, HERE / "server.py", address, *modules],
            stdin=subprocess.PIPE,
            env=os.environ | (env or {}),
        ) as server:
            until = time.monotonic() + STARTS_WITHIN_S
            while not Path(address).exists() and server.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.05)
            assert server.poll() is None, f"it ended with {server.returncode}"
            yield WarmPython(address)
