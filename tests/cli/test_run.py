"""`run`: a command at a terminal, with what the queue gave it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import pytest

from schedmate.config import LocalSettings
from schedmate.model import JobState
from schedmate.schedulers.local import LocalScheduler

pytestmark = pytest.mark.processes
SOURCES = str(Path(__file__).parents[2] / "src")
PATIENCE_S = 60.0


class Terminal:
    """A verb in a terminal of its own."""

    def __init__(self, words, env):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a suite in the background ignores it
            os.execvpe(sys.executable, [sys.executable, "-m", "schedmate", *words], env)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
        self.seen = b""

    def until(self, text):
        deadline = time.monotonic() + PATIENCE_S
        while text.encode() not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.file], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.file, 4096)
                except OSError:
                    assert text.encode() in self.seen, self.seen

    def type(self, text):
        os.write(self.file, text.encode())

    def code(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def queue(tmp_path):
    env = {
        **os.environ,
        "PYTHONPATH": SOURCES,
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_STATE_DIR": str(tmp_path / "state"),
        "SCHEDMATE_LOCAL__SLOTS": "1",
    }
    scheduler = LocalScheduler(tmp_path / "state" / "local", LocalSettings(slots=1))
    scheduler.begin = lambda *words: Terminal(["run", *words], env)
    yield scheduler
    scheduler.stop()


def ended(queue, job_id):
    deadline = time.monotonic() + PATIENCE_S
    while not (job := queue.jobs([job_id])[0]).state.ended:
        assert time.monotonic() < deadline, job
        time.sleep(0.05)
    return job


def is_alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_command_has_the_terminal_and_its_exit_code_is_handed_on(queue):
    says = 'stty size; echo "gpus=$SCHEDMATE_SLOTS job=$SCHEDMATE_JOB_ID"; read x; echo "got $x"'
    terminal = queue.begin("--gpus", "1", "--", "bash", "-c", f"{says}; exit 7")
    terminal.until("gpus=0 job=1")
    assert b"33 77" in terminal.seen
    assert queue.jobs(["1"])[0].state is JobState.RUNNING
    assert queue.jobs(["1"])[0].command[0] == "bash"
    terminal.type("hello\n")
    terminal.until("got hello")

    assert terminal.code() == 7
    job = ended(queue, "1")
    assert (job.state, job.exit_code) == (JobState.FAILED, 7)


def test_ctrl_c_is_the_commands_own(queue):
    traps = "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done"
    terminal = queue.begin("--", "bash", "-c", traps)
    terminal.until("ready")
    terminal.type("\x03")

    assert terminal.code() == 3
    assert ended(queue, "1").exit_code == 3


def test_it_waits_for_its_turn_and_ctrl_c_cancels_it_there(queue):
    first = queue.begin("--gpus", "1", "--", "bash", "-c", "echo first; read x")
    first.until("first")
    second = queue.begin("--gpus", "1", "--", "echo", "second")
    second.until("job 2 waits in the queue")
    second.type("\x03")

    assert second.code() == 130
    assert ended(queue, "2").state is JobState.CANCELLED
    first.type("\n")
    assert first.code() == 0
    assert ended(queue, "1").state is JobState.COMPLETED


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_the_job_ends_with_its_terminal(queue, how, tmp_path):
    log = tmp_path / "pids"
    runs = f"sleep 300 & echo $! > {log}; echo up; wait"
    terminal = queue.begin("--", "bash", "-c", runs)
    terminal.until("up")
    if how == "closed":
        os.close(terminal.file)
    else:
        os.kill(terminal.pid, signal.SIGKILL)
    os.waitpid(terminal.pid, 0)

    job = ended(queue, "1")

    assert job.state in (JobState.FAILED, JobState.CANCELLED)
    assert not is_alive(log.read_text().strip())


def test_a_cancelled_job_ends_its_command(queue):
    terminal = queue.begin("--", "bash", "-c", "echo up; sleep 300")
    terminal.until("up")
    queue.cancel("1")

    assert ended(queue, "1").state is JobState.CANCELLED
    assert terminal.code() > 128
    assert json.dumps(queue.jobs(["1"])[0].comment) == '"schedmate=off"'
