"""Imported runs get the code that they ran, and the next job of that code is recognised."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from files.people import OWNER, give, let_all_reach, needs_root
from schedmate.model import JobState
from schedmate.model.account import account_name
from schedmate.service.usecases import reading_pool
from schedmate.service.usecases.code_reading import CacheInMemory, Unread, read_code, target_of
from schedmate.service.usecases.history_import import CodeOptions, import_table
from schedmate.service.usecases.reading_pool import ReadingTask, read_all
from schedmate.service.wiring import open_store
from schedmate.simulator.traces.finished import to_past_run
from schedmate.testing.builders import a_job, a_trace_job

pytestmark = pytest.mark.processes

TRAIN = """\
import argparse
import torch
from torchvision import models
from helpers import batches

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()
model = models.resnet18()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(args.epochs):
    for images, labels in batches(64):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
"""
HELPERS = """\
from torch.utils.data import DataLoader
from torchvision import datasets


def batches(size):
    return DataLoader(datasets.CIFAR10("."), batch_size=size, shuffle=True)
"""
SCRIPT = "#!/bin/bash\n#SBATCH --gpus=1\npython train.py --epochs {}\n"
BEFORE, START = 1_700_000_000, 1_750_000_000.0
"""When code was written, and when runs started."""


def write(path: Path, text: str, *, at: float = BEFORE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path


def project(place: Path, *, model: str = "resnet18", epochs: int = 3) -> Path:
    write(place / "train.py", TRAIN.replace("resnet18", model))
    write(place / "helpers.py", HELPERS)
    write(place / "run.sh", SCRIPT.format(epochs))
    return place


def run_of(place, number=1, **parts):
    """One row of a table as a run."""
    values = {
        "job_id": str(number),
        "user": account_name(),
        "submit_time": START + number,
        "script": "run.sh",
        "workdir": str(place),
    }
    return to_past_run(a_trace_job(**(values | parts)))


def answer_of(place, **parts):
    job = run_of(place, **parts).job
    return read_code(target_of(job), job.start_time, CacheInMemory())


def write_table(path: Path, rows) -> Path:
    names = ("job_id", "user", "submit_time", "duration", "gpus", "name", "script", "workdir")
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(names)
        table.writerows(rows)
    return path


def verb(state: Path, *words, check=True):
    env = {**os.environ, "SCHEDMATE_STATE_DIR": str(state), "SCHEDMATE_CONFIG": "/dev/null"}
    return subprocess.run(
        [sys.executable, "-m", "schedmate", *map(str, words)],
        env=env,
        capture_output=True,
        text=True,
        check=check,
    )


def test_the_next_job_of_imported_code_is_recognised(tmp_path):
    rng = random.Random(1)
    models = ("resnet18", "resnet50", "vgg16")
    places = [project(tmp_path / name, model=name, epochs=4) for name in models]

    def seconds(n):
        return 100 * 10 ** (n % 3) * rng.uniform(0.95, 1.05)

    rows = [
        (n, account_name(), START + 600 * n, seconds(n), 1, "job", "run.sh", places[n % 3])
        for n in range(30)
    ]
    table, state = write_table(tmp_path / "site.csv", rows), tmp_path / "state"

    told = verb(state, "history", "import", table)
    assert "30 runs are remembered" in told.stderr
    assert "code read for 30" in told.stderr

    def advised(place):
        words = ("advise", "--json", "--no-llm", "--dir", place, "run.sh")
        return json.loads(verb(state, *words).stdout)["prediction"]

    again = advised(places[1])
    assert again["basis"] == "identical"
    assert 900 < again["duration_s"]["p50"] < 1100
    assert again["duration_s"]["p90"] < 1.5 * again["duration_s"]["p10"]

    write(places[1] / "run.sh", SCRIPT.format(8), at=time.time())
    assert advised(places[1])["basis"] == "same_code"

    changed = TRAIN.replace("resnet18", "resnet50").replace("lr=0.1", "lr=0.2")
    write(places[1] / "train.py", changed, at=time.time())
    assert advised(places[1])["basis"] == "similar"

    listed = json.loads(verb(state, "history", "list", "--json").stdout)["runs"]
    for run in listed[:3]:
        job_id = run["job"]["id"]
        shown = json.loads(verb(state, "history", "show", job_id, "--json").stdout)
        assert shown["job"] == run["job"]
        assert shown["workload"]["model"]["value"].startswith(("resnet", "vgg"))


def test_a_job_that_is_nowhere_is_named_with_exit_code_3(tmp_path):
    found = verb(tmp_path, "history", "show", "77", check=False)

    assert found.returncode == 3
    assert "has no job 77" in found.stderr


def test_of_two_jobs_with_one_id_each_can_be_shown(tmp_path):
    for name, seconds in (("a.csv", 60), ("b.csv", 7200)):
        row = (5, "ann", START, seconds, 1, name, "", "")
        verb(tmp_path, "history", "import", write_table(tmp_path / name, [row]))

    newest = verb(tmp_path, "history", "show", "5")
    older = verb(tmp_path, "history", "show", "5", "--from", "a.csv")

    assert "b.csv" in newest.stdout
    assert "--from a.csv" in newest.stderr
    assert "a.csv" in older.stdout
    assert verb(tmp_path, "history", "show", "5", "--from", "c.csv", check=False).returncode == 3


class TestWhatIsRead:
    def test_runs_of_the_same_code_ask_one_question(self, place, monkeypatch):
        asked = []

        def counted(questions, **how):
            asked.extend(questions)
            return read_all(questions, **how)

        monkeypatch.setattr(reading_pool, "read_all", counted)
        code = project(place.root / "p")
        import_table(place.settings, [run_of(code, n) for n in range(40)], "t.csv")

        assert len(asked) == 1
        with place.store() as store:
            assert len(store.recent_runs()) == 40
            assert all(run.fingerprint for run in store.recent_runs())

    def test_what_was_read_is_not_read_again_and_not_lost(self, place):
        code = project(place.root / "p")
        runs = [run_of(code, n) for n in range(3)]
        first = import_table(place.settings, runs, "t.csv")
        (code / "train.py").unlink()
        second = import_table(place.settings, runs, "t.csv")

        assert (first.code_read, first.code_known) == (3, 0)
        assert (second.code_read, second.code_known, second.unread) == (0, 3, {})
        with place.store() as store:
            assert all(run.fingerprint for run in store.recent_runs())

    def test_a_corrected_row_keeps_its_code(self, place):
        code = project(place.root / "p")
        import_table(place.settings, [run_of(code)], "t.csv")
        import_table(place.settings, [run_of(code, status=JobState.FAILED)], "t.csv")

        with place.store() as store:
            (run,) = store.recent_runs()
        assert run.job.state is JobState.FAILED
        assert run.fingerprint is not None

    def test_nothing_is_read_where_that_is_not_wanted(self, place):
        code = project(place.root / "p")
        done = import_table(place.settings, [run_of(code)], "t.csv", CodeOptions(read=False))

        assert (done.runs, done.code_read, done.unread) == (1, 0, {})

    @pytest.mark.parametrize(
        "command",
        [
            "sbatch --gpus 1 run.sh",
            "sbatch -J name --gpus=1 run.sh",
            "/usr/bin/sbatch run.sh",
            "run.sh",
        ],
    )
    def test_a_submit_line_is_the_same_code_as_its_script(self, tmp_path, command):
        code = project(tmp_path)

        by_line = answer_of(code, script=None, command=command)
        assert by_line.fingerprint.code == answer_of(code).fingerprint.code

    def test_a_wrapped_command_is_read(self, tmp_path):
        code = project(tmp_path)
        wrapped = answer_of(code, script=None, command="sbatch --wrap 'python train.py --epochs 3'")

        assert wrapped.fingerprint.code == answer_of(code).fingerprint.code
        assert wrapped.workload.epochs.value == 3
        assert wrapped.ran_at(START)

    def test_other_arguments_of_a_script_are_other_arguments(self, tmp_path):
        write(project(tmp_path) / "run.sh", "#!/bin/bash\npython train.py --epochs $1\n")

        three = answer_of(tmp_path, command="sbatch run.sh 3")
        nine = answer_of(tmp_path, command="sbatch run.sh 9")

        assert three.fingerprint.code == nine.fingerprint.code
        assert three.fingerprint != nine.fingerprint
        assert nine.workload.epochs.value == 9


class TestWhatIsLeftOut:
    def test_code_written_after_the_start_is_not_what_ran(self, place):
        code = project(place.root / "p")
        write(code / "helpers.py", HELPERS, at=START + 50)
        done = import_table(place.settings, [run_of(code, 1), run_of(code, 100)], "t.csv")

        assert done.code_read == 1
        assert done.unread == {Unread.CHANGED: 1}
        with place.store() as store:
            read = {run.job.id for run in store.recent_runs() if run.fingerprint}
        assert read == {"100"}

    def test_a_script_that_the_scheduler_kept_may_have_changed_since(self, tmp_path):
        code = project(tmp_path)
        write(code / "run.sh", SCRIPT.format(99), at=START + 50)
        target = target_of(run_of(code).job, SCRIPT.format(3))

        found = read_code(target, START, CacheInMemory())

        assert found.ran_at(START)
        assert found.workload.epochs.value == 3
        assert not answer_of(code).ran_at(START)

    def test_a_checkout_of_the_same_commit_has_changed_nothing(self, tmp_path):
        code = project(tmp_path)
        git(code, "init", "-q", at=BEFORE)
        git(code, "add", ".", at=BEFORE)
        git(code, "commit", "-q", "-m", "one", at=BEFORE)
        for file in code.glob("*.*"):
            os.utime(file, (START + 50, START + 50))
        assert answer_of(code).ran_at(START)

        write(code / "helpers.py", HELPERS + "# edited\n", at=START + 50)
        assert not answer_of(code).ran_at(START)

        git(code, "commit", "-q", "-a", "-m", "two", at=START + 60)
        assert not answer_of(code).ran_at(START)
        assert answer_of(code).ran_at(START + 61)

    def test_a_damaged_repository_vouches_for_nothing(self, tmp_path):
        code = project(tmp_path)
        git(code, "init", "-q", at=BEFORE)
        git(code, "add", ".", at=BEFORE)
        git(code, "commit", "-q", "-m", "one", at=BEFORE)
        write(code / "helpers.py", HELPERS, at=START + 50)
        whole = (code / ".git/index").read_bytes()
        for damaged in (b"", b"DIRC", whole[:40], whole[:90], b"DIRC" + b"\xff" * 500):
            (code / ".git/index").write_bytes(damaged)
            assert not answer_of(code).ran_at(START)

    @pytest.mark.parametrize(
        ("parts", "why"),
        [
            ({"workdir": "/nonexistent/place"}, Unread.NO_DIRECTORY),
            ({"script": "gone.sh"}, Unread.NO_SCRIPT),
            ({"script": "binary.sh"}, Unread.BINARY),
            ({"script": "large.sh"}, Unread.TOO_LARGE),
            ({"script": "dir.sh"}, Unread.NO_SCRIPT),
            ({"script": "a\0b"}, Unread.NO_SCRIPT),
            ({"script": "orphan.sh"}, Unread.NO_CODE),
            ({"script": None, "command": "python gone.py --epochs 3"}, Unread.NO_CODE),
            ({"user": "nobody-we-know"}, Unread.NO_USER),
        ],
        ids=lambda part: str(part)[:40],
    )
    def test_the_reason_is_counted(self, place, parts, why):
        code = project(place.root / "p")
        (code / "binary.sh").write_bytes(b"\x7fELF\0\0")
        (code / "large.sh").write_bytes(b"#" * 2_000_000)
        (code / "dir.sh").mkdir()
        write(code / "orphan.sh", "#!/bin/bash\npython elsewhere.py\n")
        run = run_of(code, **parts)
        done = import_table(place.settings, [run], "t.csv")

        assert (done.runs, done.code_read, done.unread) == (1, 0, {why: 1})

    @needs_root
    def test_nothing_is_read_that_the_owner_may_not_read(self, tmp_path):
        let_all_reach(tmp_path)
        home = project(tmp_path / "home")
        write(tmp_path / "secret.sh", "#!/bin/bash\npython train.py\n").chmod(0o600)
        give(home, OWNER, 0o755)
        (home / "link.sh").symlink_to(tmp_path / "secret.sh")

        assert answer_of(home, user=OWNER).fingerprint is not None
        assert answer_of(home, user=OWNER, script="link.sh") is Unread.NO_RIGHTS

    def test_a_row_without_a_script_is_no_failure(self, place):
        done = import_table(place.settings, [run_of(place.root, script=None)], "t.csv")

        assert (done.code_read, done.unread) == (0, {})


def git(place, *words, at):
    when = f"{int(at)} +0000"
    env = {
        **os.environ,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    named = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*")
    subprocess.run(["git", *named, *words], cwd=place, env=env, check=True)


class TestThePool:
    def questions(self, root, count):
        places = [project(root / f"p{n}", epochs=n + 1) for n in range(count)]
        return [ReadingTask(target_of(run_of(place).job), START) for place in places]

    def test_processes_read_what_one_reads(self, tmp_path):
        questions = self.questions(tmp_path, 6)

        assert dict(read_all(questions, workers=2)) == dict(read_all(questions, workers=0))

    def test_one_that_hangs_or_dies_costs_only_its_own_run(self, tmp_path, monkeypatch):
        monkeypatch.setattr(reading_pool, "_serve", serve_badly)
        questions = self.questions(tmp_path, 6)
        for number, what in ((1, "hang"), (2, "spin"), (3, "wait"), (4, "die")):
            (questions[number].target.workdir / what).touch()

        found = dict(read_all(questions, workers=2, most_s=2.5, stuck_s=WAITED_S))

        assert found[1] is found[2] is Unread.TOO_SLOW
        assert found[4] is Unread.CRASHED
        assert [found[n].workload.epochs.value for n in (0, 3, 5)] == [1, 4, 6]


WAITED_S = 3.0


def serve_badly(channel, most_s):
    """A worker that hangs, computes or dies at what is marked so, or is as slow as a busy machine:
    longer than it may hang, but it gets on."""
    while True:
        question = channel.recv()
        signal.setitimer(signal.ITIMER_PROF, most_s)
        if (question.target.workdir / "hang").exists():
            time.sleep(3600)
        while (question.target.workdir / "spin").exists():
            pass
        if (question.target.workdir / "wait").exists():
            until = time.monotonic() + 2 * WAITED_S
            while time.monotonic() < until:
                time.sleep(0.5)
                sum(range(1_000_000))
        if (question.target.workdir / "die").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        channel.send(read_code(question.target, question.earliest, CacheInMemory()))


COUNT = 200


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_import_goes_on_where_it_stopped(tmp_path, how, interruptible):
    places = [project(tmp_path / f"p{n}", epochs=n + 1) for n in range(COUNT)]
    rows = [
        (n, account_name(), START + 600 * n, 60, 1, "job", "run.sh", place)
        for n, place in enumerate(places)
    ]
    table, state = write_table(tmp_path / "site.csv", rows), tmp_path / "state"
    env = {**os.environ, "SCHEDMATE_STATE_DIR": str(state), "SCHEDMATE_CONFIG": "/dev/null"}
    started = subprocess.Popen(
        [sys.executable, "-m", "schedmate", "history", "import", str(table), "--workers", "1"],
        env=env,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while code_known(state) == 0:
        assert started.poll() is None
        time.sleep(0.05)
    started.send_signal(how)
    started.wait(120)

    known = code_known(state)
    assert 0 < known < COUNT
    told = verb(state, "history", "import", table)
    assert f"code read for {COUNT - known}; code known before for {known}" in told.stderr


def code_known(state: Path) -> int:
    from schedmate.config import Settings  # noqa: PLC0415 - only this needs it

    if not (state / "schedmate.sqlite3").exists():
        return 0
    with closing(open_store(Settings(state_dir=state), of="table:site.csv")) as store:
        return len(store.attempts_with_code())


def test_many_rows_without_code_cost_little(place):
    runs = [run_of(place.root, n, script=None, workdir=None) for n in range(10_000)]
    began = time.process_time()
    done = import_table(place.settings, runs, "t.csv")

    assert done.runs == 10_000
    assert time.process_time() - began < 30


def test_a_job_without_a_directory_has_no_code_to_read():
    assert target_of(a_job(workdir="", script="run.sh")) is None
    assert target_of(a_job(workdir="relative", script="run.sh")) is None
    assert target_of(a_job(workdir="/work", script=None, command=())) is None
