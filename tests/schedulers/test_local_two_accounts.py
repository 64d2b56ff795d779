"""Two accounts with a queue each share the GPUs of a machine, and outsiders keep theirs."""

from __future__ import annotations

import json
import os
import pwd
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import schedmate
from files.people import OTHER, OWNER, give, needs_root, uid_of
from schedulers.gpu_box import GpuBox
from schedulers.local_site import processes_of, wait_for

pytestmark = [needs_root, pytest.mark.processes, pytest.mark.slow]

ACCOUNTS = (OWNER, OTHER)
JOBS = 100
MOST_S = 400.0
TAKES_ITS_GPUS = """\
for gpu in $(echo "$CUDA_VISIBLE_DEVICES" | tr , ' '); do
    mkdir "$SHARED/held-$gpu" || echo "$USER_NAME: $gpu is held" >> "$SHARED/wrong"
    [ ! -e "$SHARED/outsider-$gpu" ] || echo "$USER_NAME: $gpu is an outsider's" >> "$SHARED/wrong"
done
sleep "$1"
for gpu in $(echo "$CUDA_VISIBLE_DEVICES" | tr , ' '); do rmdir "$SHARED/held-$gpu"; done
echo "$USER_NAME $SCHEDMATE_JOB_ID $SCHEDMATE_RESTART_COUNT $CUDA_VISIBLE_DEVICES" >> "$SHARED/done"
"""


def gid_of(user):
    return pwd.getpwnam(user).pw_gid


@dataclass
class Machine:
    root: Path
    python: str

    def __post_init__(self):
        self.root.chmod(0o755)
        self.box = GpuBox(self.root / "box")
        self.shared, self.locks = self.root / "shared", self.root / "locks"
        for common in (self.shared, self.locks):
            common.mkdir()
            common.chmod(0o1777)
        for name in ("done", "wrong"):
            (self.shared / name).touch()
            (self.shared / name).chmod(0o666)
        for user in ACCOUNTS:
            (self.root / user).mkdir()
            give(self.root / user, user, 0o700)

    def call(self, user, act, *arguments):
        """A function of `act_as.py`, as that account."""
        driver = Path(__file__).with_name("act_as.py")
        words = [self.python, str(driver), act, str(self.root / user / "local"), str(self.locks)]
        packages = [path for path in sys.path if path.endswith("site-packages")]
        env = {
            "PATH": self.box.path,
            "HOME": str(self.root / user),
            "PYTHONPATH": ":".join([str(Path(schedmate.__file__).parents[1]), *packages]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SCHEDMATE_CONFIG": os.devnull,
            "SHARED": str(self.shared),
            "USER_NAME": user,
        }
        done = subprocess.run(
            [*words, json.dumps(arguments)],
            user=uid_of(user),
            group=gid_of(user),
            extra_groups=[],
            cwd=self.root / user,
            env=env,
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    def lines(self, name):
        return (self.shared / name).read_text().splitlines()


def python_for_all() -> str | None:
    """The first of these that other accounts can run."""
    for program in (sys.executable, "/usr/bin/python3"):
        with suppress(OSError, subprocess.CalledProcessError):
            words = [program, "-c", "import sys, sqlite3; assert sys.version_info >= (3, 11)"]
            subprocess.run(words, user=uid_of(OTHER), cwd="/", check=True, capture_output=True)
            return program
    return None


@pytest.fixture
def machine():
    python = python_for_all()
    if python is None:
        pytest.skip("other accounts have no Python here")
    root = Path(tempfile.mkdtemp(prefix="schedmate-two-", dir="/tmp"))
    machine = Machine(root, python)
    yield machine
    for user in ACCOUNTS:
        machine.call(user, "stop")
    wait_for(lambda: not processes_of(root), "the end of all processes")
    shutil.rmtree(root)


@pytest.fixture
def outsider():
    """A process of somebody else's."""
    process = subprocess.Popen(["sleep", "1000"], user=uid_of("mail"))
    yield process.pid
    process.kill()
    process.wait()


def test_no_gpu_is_given_twice_and_none_is_an_outsiders(machine, outsider):
    for gpu in (5, 6, 7):
        (machine.shared / f"outsider-{gpu}").mkdir()
    machine.box.show(busy={gpu: [outsider] for gpu in (5, 6, 7)})
    chosen = random.Random(27)
    for user in ACCOUNTS:
        widths = [chosen.choice((1, 1, 1, 2, 2, 4)) for _ in range(JOBS)]
        assert machine.call(user, "submit", TAKES_ITS_GPUS, widths) == JOBS
    wait_for(lambda: len(machine.lines("done")) > JOBS // 4, "a quarter", MOST_S)
    (machine.shared / "outsider-5").rmdir()
    machine.box.show(busy={gpu: [outsider] for gpu in (6, 7)})
    wait_for(lambda: len(machine.lines("done")) >= JOBS * len(ACCOUNTS), "the end", MOST_S)

    assert machine.lines("wrong") == []
    runs = [line.split() for line in machine.lines("done")]
    assert len({(user, number) for user, number, *_ in runs}) == len(runs) == JOBS * len(ACCOUNTS)
    used = defaultdict(set)
    for user, _, restarts, gpus in runs:
        assert restarts == "0"
        used[user] |= set(gpus.split(","))
    assert used[OWNER] & used[OTHER] >= set("01234"), "both had the same ones, one after the other"
    assert used[OWNER] | used[OTHER] <= set("012345")
    for user in ACCOUNTS:
        wait_for(lambda user=user: set(machine.call(user, "states")) == {"COMPLETED"}, "the end")
    owners = {path.stat().st_uid for path in machine.locks.iterdir()}
    assert owners <= {uid_of(user) for user in ACCOUNTS}
