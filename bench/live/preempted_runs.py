"""Real trainings that make way for short jobs on a scheduler, and what became of them.

The daemon runs in this process, one cycle after the other, and may be made to die at any step.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedmate.config import LlmSettings, Settings
from schedmate.model import (
    ActionRecord,
    Job,
    JobId,
    JobState,
    Request,
    SchedulerUnreachable,
    Submission,
)
from schedmate.schedulers.base import Scheduler
from schedmate.service.daemon.assembling import assemble
from schedmate.service.daemon.daemon import Daemon
from schedmate.service.wiring import open_store
from schedmate.site_settings import PreemptionSettings
from schedmate.store import KeptAdvice, Store
from schedmate.testing.builders import an_advice

SCRIPTS = Path(__file__).parents[2] / "tests/frameworks/scripts/resuming"
CODES = ("torch_steps.py", "lightning_steps.py", "trainer_steps.py")
SHORT_S = 2.0
EAGER = PreemptionSettings(
    after_minutes=0.02, ends_soon_minutes=0.03, give_back_minutes=0.5, widest=1.0, worth=1.0
)
"""Runs last seconds here: all times are as much shorter."""
_COMMENT = "schedmate=preemptible"
_STEP = re.compile(r"step (\d+)/\d+ loss (\S+)")
_TRAINER = re.compile(r"\{'loss': '?([\d.e+-]+)'?.{0,80}?'epoch': '?([\d.]+)'?\}")
_STEPS_AN_EPOCH = 16


def settings_for(scheduler: str, root: Path) -> Settings:
    return Settings(
        scheduler="slurm" if scheduler == "slurm" else "local",
        mode="act",
        settle_s=0.0,
        state_dir=root / "state",
        preemption=EAGER,
        llm=LlmSettings(enabled=False),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One job; `every` are steps between two checkpoints."""

    code: str
    name: str
    seed: int = 0
    steps: int = 80
    every: int = 20
    step_s: float = 0.2
    save_s: float = 0.0
    """How long a checkpoint is written, where its code lets that be chosen."""
    comment: str = _COMMENT
    gpus: int | None = None
    """None: all that the stage has."""

    @property
    def words(self) -> list[str]:
        saving = ["--save-s", f"{self.save_s:g}"] if self.save_s else []
        numbers = (("steps", self.steps), ("every", self.every), ("step-s", self.step_s))
        shown = [word for name, value in numbers for word in (f"--{name}", f"{value:g}")]
        return [*shown, "--seed", str(self.seed), *saving]


@dataclass(frozen=True, slots=True)
class Outcome:
    state: str
    runs: int
    step: int
    loss: float
    repeated: int
    """Steps that were done more than once: the work that was lost."""


@dataclass(slots=True)
class Stage:
    scheduler: Scheduler
    settings: Settings
    root: Path
    python: Path
    gpus: int
    patience_s: float = 240.0
    limit_s: float = 1800.0
    poll_s: float = 0.5
    started: dict[JobId, Path] = field(default_factory=dict)

    @staticmethod
    def script(code: str) -> Path:
        return SCRIPTS / code

    def train(self, training: Training) -> JobId:
        """Submit it in a directory of its own."""
        place = self.root / training.name
        place.mkdir(parents=True)
        shutil.copy(self.script(training.code), place)
        script = place / "train.sh"
        script.write_text(
            f"#!/bin/bash\n#SBATCH --open-mode=append --comment={training.comment}\n"
            f"{self.python} {training.code} {' '.join(training.words)}\n"
        )
        script.chmod(0o755)
        options = {"open-mode": "append", "comment": training.comment}
        submission = Submission(
            command=(str(script),),
            workdir=str(place),
            name=training.name,
            script=str(script),
            request=Request(gpus=training.gpus or self.gpus, time_limit_s=self.limit_s),
            stdout=str(place / "log"),
            options={} if self.settings.scheduler == "slurm" else options,
        )
        job_id = self.scheduler.submit(submission)
        self.started[job_id] = place
        return job_id

    def short_jobs(self, *, tell: bool = True) -> list[JobId]:
        """As many as there are GPUs, which are known to be short."""
        found = []
        for _ in range(self.gpus):
            submission = Submission(
                command=("bash", "-c", f"sleep {SHORT_S}"),
                workdir=str(self.root),
                name="short",
                request=Request(gpus=1, time_limit_s=600.0),
                stdout="/dev/null",
            )
            found.append(self.scheduler.submit(submission))
        with closing(self.store()) as store:
            for job_id in found if tell else ():
                store.keep_advice(job_id, KeptAdvice(an_advice(SHORT_S), None))
        return found

    def store(self) -> Store:
        return open_store(self.settings)

    @contextmanager
    def daemon(self) -> Iterator[Daemon]:
        with assemble(self.settings) as daemon:
            yield daemon

    def job(self, job_id: JobId) -> Job:
        (job,) = self.scheduler.jobs([job_id])
        return job

    def until(self, met: Callable[[], object], what: str, *, daemon: Daemon | None = None) -> None:
        deadline = time.monotonic() + self.patience_s
        while not met():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} did not happen in {self.patience_s:g} s")
            if daemon is not None:
                with suppress(SchedulerUnreachable):  # as the service does
                    daemon.cycle(time.time())
            time.sleep(self.poll_s)

    def has_saved(self, job_id: JobId) -> bool:
        """Whether there is a checkpoint of this job."""
        place = self.started[job_id] / "checkpoints"
        return place.exists() and any(one.suffix != ".tmp" for one in place.iterdir())

    def is_known_to_save(self, job_id: JobId) -> bool:
        with closing(self.store()) as store:
            seen = store.progress(job_id, self.job(job_id).restarts)
        return seen is not None and seen.progress.checkpoint is not None

    def is_over(self, job_id: JobId) -> bool:
        return self.job(job_id).state.ended

    def runs_of(self, job_id: JobId) -> list[str]:
        """The logs of its runs, one after the other."""
        job = self.job(job_id)
        paths = [*reversed(job.earlier_logs), *job.logs]
        return [Path(path).read_text() for path in paths if Path(path).exists()]

    def outcome(self, job_id: JobId) -> Outcome:
        job, steps = self.job(job_id), []
        for text in self.runs_of(job_id):
            steps += _steps(text)
        counts = [step for step, _ in steps]
        return Outcome(
            state=str(job.state),
            runs=job.restarts + 1,
            step=counts[-1],
            loss=steps[-1][1],
            repeated=len(counts) - len(set(counts)),
        )

    def actions(self, kind: str) -> list[ActionRecord]:
        with closing(self.store()) as store:
            return [one for one in store.actions() if one.action.kind == kind]

    def clear(self) -> None:
        for job in self.scheduler.jobs():
            if not job.state.ended:
                self.scheduler.cancel(job.id)
        self.until(lambda: all(job.state.ended for job in self.scheduler.jobs()), "the end")

    def prove(self, training: Training) -> Outcome:
        """Let its owner queue it again once after a checkpoint, and see that it goes on."""
        job_id = self.train(training)
        with self.daemon() as daemon:
            self.until(lambda: self.is_known_to_save(job_id), "a checkpoint", daemon=daemon)
            self.until(lambda: self.queue_again(job_id), "the requeue")
            self.until(lambda: self.is_over(job_id), "the end", daemon=daemon)
            daemon.cycle(time.time())
        return self.outcome(job_id)

    def queue_again(self, job_id: JobId) -> bool:
        """As its owner would; whether that is done."""
        return self.job(job_id).restarts > 0 or self.scheduler.requeue(job_id, run=0)

    def undisturbed(self, training: Training) -> Outcome:
        """Beside the scheduler, as fast as it can."""
        place = self.root / f"{training.name}-undisturbed"
        place.mkdir(parents=True)
        fast = replace(training, step_s=0.0, save_s=0.0)
        command = [str(self.python), str(self.script(training.code)), *fast.words]
        text = subprocess.check_output(command, cwd=place, stderr=subprocess.STDOUT, text=True)
        steps = _steps(text)
        return Outcome("COMPLETED", 1, *steps[-1], 0)

    def make_way(self, training: Training, during: Callable[[JobId], None] | None = None) -> JobId:
        """Let short jobs come once it has saved; `during` is done while it is held."""
        job_id = self.train(training)
        with self.daemon() as daemon:
            self.until(lambda: self.is_known_to_save(job_id), "a checkpoint", daemon=daemon)
            self.short_jobs()
            if during is not None:
                self.until(lambda: is_held(self.job(job_id)), "the hold", daemon=daemon)
                during(job_id)
            self.until(lambda: self.is_over(job_id), "the end", daemon=daemon)
            daemon.cycle(time.time())
        return job_id


def is_held(job: Job) -> bool:
    return job.state is JobState.PENDING and job.held


def _steps(text: str) -> list[tuple[int, float]]:
    """Each step that a log tells of, and its loss."""
    by_epoch = [
        (round(_STEPS_AN_EPOCH * float(epoch)), float(loss))
        for loss, epoch in _TRAINER.findall(text)
    ]
    return by_epoch or [(int(step), float(loss)) for step, loss in _STEP.findall(text)]
