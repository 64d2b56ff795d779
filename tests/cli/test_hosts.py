"""`--host`: a second queue behind a real sshd on this machine, with a store of its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from schedmate.cli._hosts import ssh_command
from schedmate.config import LocalSettings, Settings
from schedmate.model import BadInput
from schedmate.schedulers.local import LocalScheduler
from schedmate.site_settings import HostSettings
from schedulers.local_site import wait_for

pytestmark = pytest.mark.processes

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
REASON = "there is no ssh and sshd here: apt-get install openssh-server openssh-client"
needs_sshd = pytest.mark.skipif(SSHD is None or shutil.which("ssh") is None, reason=REASON)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@dataclass
class TwoBoxes:
    """This machine, and itself again behind ssh as `box2`; `away` is where nobody listens."""

    root: Path

    def __post_init__(self):
        for name in ("bin", "here", "there"):
            (self.root / name).mkdir()
        source = Path(__file__).parents[2] / "src"
        program = self.root / "schedmate-there"
        program.write_text(
            f'#!/bin/sh\nexport PYTHONPATH={source}\nexec {sys.executable} -P -m schedmate "$@"\n'
        )
        program.chmod(0o755)
        self.settings = self.root / "config.toml"
        self.settings.write_text(
            'scheduler = "local"\nlocal.shared = false\nsubmit.advice = "never"\n'
            f'[hosts.box2]\nprogram = "{program}"\n'
        )
        self._serve()
        self.wrap_ssh()

    def _serve(self):
        self.port = free_port()
        for name in ("host", "user"):
            key = self.root / f"{name}_key"
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        shutil.copy(self.root / "user_key.pub", self.root / "authorized")
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # as its service makes it
        (self.root / "there.toml").write_text('scheduler = "local"\nlocal.shared = false\n')
        (self.root / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.root}/host_key\n"
            f"AuthorizedKeysFile {self.root}/authorized\nStrictModes no\nUsePAM no\n"
            f"PermitRootLogin prohibit-password\nPidFile {self.root}/sshd.pid\n"
            f"SetEnv SCHEDMATE_STATE_DIR={self.root}/there "
            f"SCHEDMATE_CONFIG={self.root}/there.toml SCHEDMATE_SUBMIT__ADVICE=never\n"
        )
        with (self.root / "sshd.log").open("ab") as log:
            words = [SSHD, "-D", "-e", "-f", self.root / "sshd_config"]
            self.sshd = subprocess.Popen(words, stderr=log)
        wait_for(self._listens, "sshd")

    def _listens(self):
        assert self.sshd.poll() is None, (self.root / "sshd.log").read_text()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def wrap_ssh(self):
        """The system's own, with a configuration that is not this account's."""
        host_key = (self.root / "host_key.pub").read_text()
        (self.root / "known").write_text(f"[127.0.0.1]:{self.port} {host_key}")
        (self.root / "ssh_config").write_text(
            f"Host box2\n  Port {self.port}\n"
            f"Host away\n  Port {free_port()}\n"
            f"Host *\n  HostName 127.0.0.1\n  IdentityFile {self.root}/user_key\n"
            f"  UserKnownHostsFile {self.root}/known\n"
        )
        ssh = self.root / "bin" / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.root}/ssh_config "$@"\n')
        ssh.chmod(0o755)

    @property
    def env(self):
        return {
            **os.environ,
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
            "SCHEDMATE_CONFIG": str(self.settings),
            "SCHEDMATE_STATE_DIR": str(self.root / "here"),
        }

    def watch(self, *words, until):
        """What `jobs --watch` has drawn on a terminal until these words stand there."""
        ours, terminal = os.openpty()
        words = [sys.executable, "-P", "-m", "schedmate", "jobs", "--watch", *words]
        env = {**self.env, "TERM": "xterm", "COLUMNS": "120", "LINES": "20"}
        watching = subprocess.Popen(
            words, env=env, stdin=terminal, stdout=terminal, stderr=terminal, cwd=self.root
        )
        os.close(terminal)
        drawn = b""
        try:
            while not all(one.encode() in drawn for one in until):
                assert watching.poll() is None, drawn
                drawn += os.read(ours, 65_536)
        finally:
            watching.terminate()
            watching.wait(30)
            os.close(ours)
        return drawn.decode("utf-8", "replace")

    def call(self, *words, code=0):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "schedmate", *words],
            env=self.env,
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        self.said = done.stderr
        return done.stdout.strip()

    def leave(self):
        for name in ("here", "there"):
            queue = LocalScheduler(self.root / name / "local", LocalSettings())
            for job in queue.jobs() if (self.root / name / "local").is_dir() else ():
                queue.cancel(job.id)
            queue.stop()
        self.sshd.terminate()
        self.sshd.wait(30)


@pytest.fixture(scope="module")
def boxes(tmp_path_factory):
    made = TwoBoxes(tmp_path_factory.mktemp("boxes"))
    yield made
    made.leave()


@needs_sshd
def test_a_second_box_is_a_queue_like_the_first(boxes):
    (boxes.root / "train.py").write_text(
        "import time; print('step', flush=True); time.sleep(300)\n"
    )
    here = boxes.call("submit", "--parsable", "--job-name=near", "train.py")
    there = boxes.call("submit", "--parsable", "--host", "box2", "--job-name=far", "train.py")
    assert (here, there) == ("1", "1"), "each has a store and numbers of its own"

    wait_for(lambda: "RUNNING" in boxes.call("jobs", "--host=box2"), "its start there")
    rows = boxes.call("jobs").splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [["1", "near"], ["box2:1", "far"]]
    listed = json.loads(boxes.call("jobs", "--json"))["jobs"]
    assert [view["job"]["id"] for view in listed] == ["1", "box2:1"]
    assert len(boxes.call("jobs", "--host", "here").splitlines()) == 2
    assert "far" in boxes.call("jobs", "-s", "RUNNING", "-u", listed[1]["job"]["user"])

    wait_for(lambda: boxes.call("logs", "box2:1") == "step", "its log")
    assert boxes.call("logs", "-n", "1", "--host", "box2", "1") == "step"
    assert boxes.call("why", "box2:1").startswith("job 1")
    assert boxes.call("eta", "--host", "box2", "1").startswith("job 1")
    both = boxes.watch(until=("box2:1", "2 running"))
    assert "near" in both
    assert "box2:1" not in boxes.watch("--host", "here", until=("near", "1 running"))
    boxes.call("cancel", "box2:1")
    wait_for(lambda: "CANCELLED" in boxes.call("jobs", "--host", "box2"), "its end there")
    assert "RUNNING" in boxes.call("jobs", "--host", "here"), "the one here goes on"


@needs_sshd
def test_exit_codes_and_refusals_come_back(boxes, tmp_path):
    boxes.call("why", "--host", "box2", "4711", code=3)
    assert "4711" in boxes.said
    boxes.call("jobs", "--host", "box3", code=2)
    assert "the setting hosts names no machine box3 (there are: box2)" in boxes.said
    boxes.call("cancel", "box2:1", "2", code=2)
    assert "jobs of one machine at a time" in boxes.said
    swept = ["--sweep", "lr=1,2", "--host", "box2", "--parsable", "--", "true"]
    array = boxes.call("submit", *swept)
    assert len(boxes.call("jobs", "--host=box2", array).splitlines()) == 3, "wherever it stands"
    words = boxes.call(
        "submit", "--parsable", "--host=box2", "--", "sh", "-c", "echo \"it's $HOME\" '$5'"
    )
    wait_for(lambda: boxes.call("logs", f"box2:{words}"), "its log")
    assert boxes.call("logs", f"box2:{words}") == f"it's {Path.home()} $5", (
        "no shell reads it twice"
    )


@needs_sshd
def test_a_box_that_is_away_hides_no_other(boxes):
    settings = boxes.settings.read_text()
    boxes.settings.write_text(f"{settings}[hosts.away]\n[hosts.empty]\nprogram = '/no/such'\n")
    try:
        (boxes.root / "ssh_config").write_text(
            f"Host empty\n  Port {boxes.port}\n{(boxes.root / 'ssh_config').read_text()}"
        )
        shown = boxes.call("jobs")
        assert "near" in shown
        assert "far" in shown
        assert "away cannot be reached" in boxes.said
        assert "Connection refused" in boxes.said
        assert "its jobs are not shown" in boxes.said
        assert "set hosts.empty.program to its full path" in boxes.said
        boxes.call("logs", "--host", "away", "1", code=4)
        assert "away cannot be reached" in boxes.said
    finally:
        boxes.settings.write_text(settings)


def test_what_is_handed_to_ssh(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "my project"
    work.mkdir()
    monkeypatch.chdir(work)
    known = {"box2": HostSettings(address="ada@box2.lab"), "-oProxyCommand=x": HostSettings()}
    settings = Settings(hosts=known)

    submit = ssh_command(settings, "box2", ["submit", "a b.sh"])
    assert submit[:6] == [
        *("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-T"),
    ]
    assert submit[6:8] == ["--", "ada@box2.lab"]
    assert submit[8].startswith("cd -- 'my project' 2>/dev/null || {")
    assert submit[8].endswith("; exec schedmate submit 'a b.sh'")
    assert ssh_command(settings, "-oProxyCommand=x", ["jobs"])[6] == "--", "no flag of ssh"
    with pytest.raises(BadInput, match=r"add it to the settings: \[hosts.box9\]"):
        ssh_command(settings, "box9", ["jobs"])
