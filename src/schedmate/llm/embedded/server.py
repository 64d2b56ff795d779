"""The embedded model's own process: `python -m schedmate.llm.embedded.server`.

It serves the OpenAI dialect on loopback behind a random key, at a low priority, and ends when
it was idle for a while or when its state file is taken away. It keeps nothing: the next
question starts another.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import secrets
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from schedmate.disk.lock import open_lock
from schedmate.llm.embedded.running import RunFiles, ServerState

_CONTEXT_TOKENS = 6144
_PROMPT_CACHE_MIB = 512
_ERRORS_ONLY = 1  # the log must not grow with every question
_NICE = 10
_LOOK_S = 0.5
_BUSY_SHARE = 0.1


def main() -> None:
    """Take the lock of the living, leave the starter's family, and serve."""
    options = _options()
    run = RunFiles(options.run_dir)
    fcntl.flock(open_lock(run.alive_lock), fcntl.LOCK_EX)  # the fork below inherits it
    if os.fork():
        os._exit(0)
    _be_humble()
    run.touch()
    run.write_state(ServerState(os.getpid()))
    key = secrets.token_urlsafe(32)
    server = load(options.model, options.threads, key)
    state = ServerState(os.getpid(), urlsplit(server.listening_address).port or 0, key)
    run.write_state(state)
    watch(run, state, options.idle_s)
    os._exit(0)  # nothing here is worth an orderly end that might hang


def load(model: Path, threads: int, key: str) -> Any:
    import xllamacpp  # noqa: PLC0415 - after the fork, and only in this process

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = _CONTEXT_TOKENS
    params.n_parallel = 1
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.ui = params.warmup = False
    params.verbosity = _ERRORS_ONLY
    return xllamacpp.Server(params)


def watch(run: RunFiles, state: ServerState, idle_s: float) -> None:
    """Return when it is time to go. A server that computes is not idle."""
    busy_at, cpu = time.monotonic(), time.process_time()
    pause = min(_LOOK_S, idle_s / 2)
    while run.state() == state:
        time.sleep(pause)
        now, spent = time.monotonic(), time.process_time()
        if spent - cpu > _BUSY_SHARE * pause:
            busy_at = now
        cpu = spent
        if now - busy_at >= idle_s and run.retire(idle_s):
            return


def _be_humble() -> None:
    """Users' jobs come first: for the processor, and to live when memory runs out."""
    os.nice(_NICE)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("800")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="schedmate-model-server")
    parser.add_argument("--run-dir", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--idle-s", type=float, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
