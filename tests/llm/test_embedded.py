"""The real embedded model in its real server process."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Literal
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from pydantic import BaseModel

from schedmate.config import LlmSettings
from schedmate.llm import open_asker
from schedmate.llm.deadline import Deadline
from schedmate.llm.embedded.files import ModelFiles
from schedmate.llm.embedded.process import EmbeddedEndpoint, stop
from schedmate.llm.embedded.running import RunFiles, ServerState
from schedmate.model import ModelError
from schedmate.testing.llm import MemoryLedger

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(900)]

LOG = """\
1: epoch 3 step 812 loss 2.31
2: Traceback (most recent call last):
3:   File "train.py", line 88, in save
4: OSError: [Errno 28] No space left on device: 'ckpt/step-812.pt'
"""


class Failure(BaseModel):
    reason: Literal["gpu_out_of_memory", "disk_full", "network", "bug_in_user_code"]


def asker_of(cache_dir, ledger, **settings):
    llm = LlmSettings(**{"deadline_s": 500.0, "idle_s": 60.0, **settings})
    asker = open_asker(llm, cache_dir=cache_dir, ledger=ledger)
    assert asker is not None
    return asker


def ask(asker, prompt=LOG):
    return asker.ask(
        Failure,
        prompt,
        purpose="test",
        system="Name the reason why the job failed.",
        max_tokens=48,
    )


def start(cache_dir, **settings):
    """Start the server, as a question would, but ask none."""
    llm = LlmSettings(**{"idle_s": 60.0, **settings})
    with EmbeddedEndpoint(ModelFiles(cache_dir), llm).open(Deadline(120)):
        state = RunFiles.of(cache_dir).ready_state()
    assert state is not None
    return state


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def test_it_answers_by_the_schema_once_and_then_from_the_cache(model_cache):
    ledger = MemoryLedger()
    asker = asker_of(model_cache, ledger)
    run = RunFiles.of(model_cache)
    assert not run.is_alive(), "opening must not start it"
    answer = ask(asker)
    assert answer.value == Failure(reason="disk_full")
    assert answer.cost.llm_calls == 1
    assert ledger.calls[0].prompt_tokens > 50
    again = ask(asker_of(model_cache, ledger))
    assert (again.value, again.cost.llm_calls) == (answer.value, 0)


def test_the_server_is_humble_private_and_on_its_own(model_cache):
    state = start(model_cache, threads=1)
    run = RunFiles.of(model_cache)
    assert os.getpriority(os.PRIO_PROCESS, state.pid) >= 10
    assert os.getsid(state.pid) != os.getsid(0)
    opened = [Path(f"/proc/{state.pid}/fd/{number}").readlink() for number in (0, 1, 2)]
    assert opened == [Path(os.devnull), run.log, run.log]
    secret_files = [path for path in run.folder.iterdir() if state.key in path.read_text()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in secret_files] == [0o600]
    assert state.key not in Path(f"/proc/{state.pid}/cmdline").read_text()
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"http://127.0.0.1:{state.port}/v1/models")
    listening = Path(f"/proc/{state.pid}/net/tcp").read_text()
    assert f"0100007F:{state.port:04X}" in listening
    assert f"00000000:{state.port:04X}" not in listening


def test_it_stops_when_idle_and_the_next_question_starts_another(model_cache):
    """The answer takes longer than it may be idle: a server that computes is not idle."""
    run = RunFiles.of(model_cache)
    first = start(model_cache, idle_s=0.5)
    wait_for(lambda: not run.is_alive())
    assert run.state() is None
    asker = asker_of(model_cache, MemoryLedger(), idle_s=0.5)
    assert ask(asker).value.reason == "disk_full"
    assert first.pid != (run.state() or ServerState(0)).pid


def test_after_kill_9_the_next_question_starts_another(model_cache):
    run = RunFiles.of(model_cache)
    first = start(model_cache)
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: not run.is_alive())
    assert run.state() == first, "the state of the dead is still there"
    assert start(model_cache).pid != first.pid


@pytest.mark.parametrize("after_s", [0.1])
def test_killed_in_mid_answer_it_is_started_again_within_the_same_question(model_cache, after_s):
    import httpx2  # noqa: F401, PLC0415 - slow to import, and the answer is to be under way

    asker = asker_of(model_cache, MemoryLedger())
    victim = start(model_cache).pid

    def kill_soon():
        time.sleep(after_s)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_soon)
    killer.start()
    answer = ask(asker)
    killer.join()
    assert answer.value.reason == "disk_full"
    assert RunFiles.of(model_cache).ready_state().pid != victim


def test_two_clients_start_one_server(model_cache):
    states = []
    threads = [threading.Thread(target=lambda: states.append(start(model_cache))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(states) == 3
    assert len({state.pid for state in states}) == 1
    wanted = str(RunFiles.of(model_cache).folder)
    servers = [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if wanted in path.read_text(errors="replace")
    ]
    assert len(servers) == 1


def test_it_goes_when_its_state_file_goes(model_cache):
    start(model_cache)
    run = RunFiles.of(model_cache)
    run.forget_state()
    wait_for(lambda: not run.is_alive())


def test_it_outlives_the_client_that_started_it(model_cache):
    path = [str(Path(__file__).parents[2]), *sys.path]
    program = f"""
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from tests.llm.test_embedded import start
print(start(Path({str(model_cache)!r})).pid)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=500
    )
    state = RunFiles.of(model_cache).ready_state()
    assert state is not None
    assert done.stdout.strip() == str(state.pid)
    assert stop(model_cache)
    assert not RunFiles.of(model_cache).is_alive()
    assert not stop(model_cache)


def test_a_question_too_long_for_it_is_refused_in_a_sentence(model_cache):
    with pytest.raises(ModelError, match="context size"):
        ask(asker_of(model_cache, MemoryLedger()), "a b " * 8000)
