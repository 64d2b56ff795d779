"""A store of many jobs, made through the store's own methods and kept for the next benchmark."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command import progress
from bench.web import site
from bench.web.site import SiteJob
from schedmate.model import JobState, LlmCall
from schedmate.service.records.event_log import MOST_EVENTS, kept
from schedmate.store import KeptAdvice
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_learned_rule, a_past_failure, an_origin

if TYPE_CHECKING:
    from schedmate.model import Job
    from schedmate.store import Store

_DAY_S = 86400.0
_AT_ONCE = 1000
SCRIPT = "#!/bin/bash\n#SBATCH --gpus=1\npython train.py --epochs 3\n"
_CODE = """import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--batch-size", type=int, default=32)
args = parser.parse_args()
for epoch in range(args.epochs):
    for step in range(1000):
        print(f"step {step}/1000")
"""


@dataclass(frozen=True, slots=True)
class FilledStore:
    """A file with a store, and the jobs that its scheduler lists."""

    path: Path
    listed: list[Job]
    ended: int

    def copied_to(self, state: Path) -> None:
        state.mkdir(parents=True)
        shutil.copy(self.path, state / "schedmate.sqlite3")


def filled_store(*, jobs: int, running: int, waiting: int, cache: Path) -> FilledStore:
    """Of a day: predictions, ends and windows of time are counted from now on."""
    day = time.time() // _DAY_S * _DAY_S
    root = cache / "home"
    sources = b"".join(Path(str(one)).read_bytes() for one in (__file__, site.__file__))
    made_by = hashlib.sha256(sources).hexdigest()[:8]
    name = f"{jobs}-{running}-{waiting}-{day:.0f}-{made_by}.sqlite3"
    ended = jobs - running - waiting
    listed = [SiteJob(ended + 1 + number, day, root).running() for number in range(running)]
    listed += [SiteJob(jobs - number, day, root).waiting() for number in range(waiting)]
    path = cache / name
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{jobs}-{running}-{waiting}-*"):
            old.unlink()
        _build(path, ended, listed, day, root)
    _write_files(root, listed)
    return FilledStore(path, listed, ended)


def default_cache() -> Path:
    return Path(tempfile.gettempdir()) / "schedmate-bench-web"


def _build(path: Path, ended: int, listed: list[Job], now: float, root: Path) -> None:
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with closing(SqliteStore(draft, scheduler="slurm")) as store:
        order = sorted(
            ((SiteJob(number, now, root), number) for number in range(1, ended + 1)),
            key=lambda pair: pair[1],
        )
        steps = range(0, ended, _AT_ONCE)
        for start in progress(steps, "filling the store"):
            some = [made for made, _ in order[start : start + _AT_ONCE]]
            with store.together():
                _keep_ended(store, some)
        with store.together():
            for job in listed:
                _keep_listed(store, SiteJob(int(job.id), now, root), job, now)
            store.keep_listed(listed)
            _keep_lessons(store, now)
        store.compact()
    draft.replace(path)
    print(f"filled a store of {path.stat().st_size / 1e6:.0f} MB", file=sys.stderr)


def _keep_ended(store: Store, some: list[SiteJob]) -> None:
    runs, events = [], []
    for made in some:
        job = made.ended()
        runs.append(made.past_run(job))
        _keep_facts(store, made, job)
        events += [kept(event) for event in made.events(job)]
        if job.state.failed:
            store.keep_diagnosis(job.id, 0, made.diagnosis())
    store.keep_runs(runs)
    store.keep_events(events, most=MOST_EVENTS)


def _keep_listed(store: Store, made: SiteJob, job: Job, now: float) -> None:
    _keep_facts(store, made, job)
    if job.state is JobState.RUNNING:
        store.keep_progress(job.id, 0, made.progress(job, 0.3), at=now)
        store.keep_events([kept(event) for event in made.events(job)], most=MOST_EVENTS)


def _keep_facts(store: Store, made: SiteJob, job: Job) -> None:
    store.keep_advice(job.id, KeptAdvice(made.advice(), made.fingerprint()))
    for action in made.actions(job):
        store.intend(action, at=job.submit_time, state="observed")


def _keep_lessons(store: Store, now: float) -> None:
    for number in range(300):
        origin = an_origin("operator" if number % 3 else "llm", at=now - 60.0 * number)
        store.remember_failure(a_past_failure(f"f{number}", f"signature {number}", origin=origin))
    for number in range(30):
        store.keep_rule(a_learned_rule(f"r{number}"))
    for number in range(5000):
        store.record_call(
            LlmCall(
                at=now - 1000.0 * number,
                purpose=("diagnose", "advise", "learn a format")[number % 3],
                model="qwen2.5-1.5b",
                outcome="ok",
                calls=1,
                prompt_tokens=900,
                answer_tokens=120,
                seconds=2.5,
            )
        )


def _write_files(root: Path, listed: list[Job]) -> None:
    """What the daemon reads of jobs: scripts, code and logs."""
    for directory in (root / name for name in site.PROJECTS):
        (directory / "logs").mkdir(parents=True, exist_ok=True)
        (directory / "train.sh").write_text(SCRIPT)
        (directory / "train.py").write_text(_CODE)
    for job in listed:
        if job.state is JobState.RUNNING:
            made = SiteJob(int(job.id), 0.0, root)
            lines = (made.log_line(step) for step in range(0, made.steps // 3, made.steps // 60))
            Path(job.logs[0]).write_text("".join(lines))
