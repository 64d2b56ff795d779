"""A site of some size for benchmarks: its users, its code, and jobs with all that is known of them.

Everything follows from the number of a job, so that a site can be made again.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.core import JobAdvised, JobSeen, Past, ProgressSeen
from schedmate.model import (
    REASONS,
    Action,
    Advice,
    Decision,
    Diagnosis,
    Evidence,
    Finding,
    Fingerprint,
    Job,
    JobState,
    PastRun,
    Prediction,
    Progress,
    Request,
    Spread,
    Workload,
)
from schedmate.model.account import account_name
from schedmate.model.advice import Match
from schedmate.model.decision import DecisionReason
from schedmate.model.profile import Mark, RunProfile

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.core import Event

USERS = tuple(
    f"{name}{place}"
    for place in ("", "2", "3")
    for name in (
        *("ada", "ben", "cleo", "dai", "eva", "finn", "gita", "hugo", "ines", "jun", "kai", "lea"),
        *("max", "nora", "omar", "pia", "quin", "rosa", "sven", "tara"),
    )
)
NODES = tuple(f"gpu{number:03}" for number in range(1, 121))
PROJECTS = tuple(f"project{number}" for number in range(20))
_CODES = 300
_ENDS = (
    *[JobState.COMPLETED] * 66,
    *[JobState.FAILED] * 20,
    *[JobState.CANCELLED] * 9,
    *[JobState.TIMEOUT] * 3,
    *[JobState.OUT_OF_MEMORY] * 1,
    *[JobState.NODE_FAIL] * 1,
)
_REASONS = ("gpu_oom", "import_error", "data_error", "node_failure", "nccl_timeout", "disk_full")
_MODELS = ("resnet50", "bert-base", "gpt2-medium", "vit-large", "unet", "wav2vec2")
_DAYS = 80.0


class SiteJob:
    """Job `number` of a site: what it is, and how its run goes."""

    def __init__(self, number: int, now: float, root: Path) -> None:
        self.number, self.id, self._now, self._root = number, str(number), now, root
        self._rng = random.Random(number)
        self.code = self._rng.randrange(_CODES)
        self.duration_s = self._rng.lognormvariate(7.5, 1.3)
        self.steps = self._rng.randrange(500, 50_000)
        self.gpus = self._rng.choice((0, 1, 1, 1, 2, 4, 8))
        self.predicted = _around(self.duration_s * self._rng.lognormvariate(0.0, 0.4))

    def ended(self) -> Job:
        """In the last months."""
        end = self._now - self._rng.uniform(600.0, _DAYS * 86400)
        job = self._job(self._rng.choice(_ENDS), end - self.duration_s, self._rng.choice(USERS))
        code = 0 if job.state is JobState.COMPLETED else 1
        return replace(job, end_time=end, exit_code=code)

    def running(self) -> Job:
        """Of our own account, whose logs can be read."""
        begun = self._now - self._rng.uniform(0.0, self.duration_s)
        job = self._job(JobState.RUNNING, begun, account_name())
        return replace(job, logs=(f"{job.workdir}/logs/{self.id}.out",))

    def waiting(self) -> Job:
        submitted = self._now - self._rng.uniform(0.0, 86400.0)
        job = self._job(JobState.PENDING, submitted + 60.0, self._rng.choice(USERS))
        return replace(job, start_time=None, nodes=(), reason="Resources")

    def _job(self, state: JobState, start: float, user: str) -> Job:
        workdir = str(self._root / PROJECTS[self.code % len(PROJECTS)])
        return Job(
            id=self.id,
            name=f"{_MODELS[self.code % 6]}-{self.code}",
            user=user,
            state=state,
            workdir=workdir,
            command=(f"{workdir}/train.sh", "--epochs", str(1 + self.code % 90)),
            script=f"{workdir}/train.sh",
            request=Request(
                gpus=self.gpus,
                gpu_type="a100" if self.gpus else None,
                cpus=8,
                memory_mb=64_000,
                time_limit_s=86400.0,
                partition="long" if self.code % 5 == 0 else "gpu",
            ),
            submit_time=float(int(start - self._rng.expovariate(1 / 1800))),
            start_time=start,
            nodes=(self._rng.choice(NODES),),
            logs=(f"{workdir}/{self.id}.out",),
        )

    def advice(self) -> Advice:
        return Advice(
            workload=self.workload(),
            prediction=Prediction(
                basis=self._rng.choice(("identical", "same_code", "similar", "history")),
                duration_s=self.predicted,
                explanation=f"like {1 + self.code % 20} runs of the same code with other arguments",
                matches=tuple(
                    Match(job_id=str(place), similarity=0.9, duration_s=self.predicted.p50)
                    for place in range(1 + self.code, 6 + self.code)
                ),
            ),
        )

    def workload(self) -> Workload:
        def found(value: object, line: int, text: str) -> Finding[object]:
            evidence = (Evidence("train.py", line, text),)
            return Finding(value=value, source="code", evidence=evidence, confidence=0.95)

        values = {
            "entry_point": found("train.py", 1, "python train.py --epochs $EPOCHS"),
            "framework": found("pytorch", 3, "import torch"),
            "model": found(_MODELS[self.code % 6], 31, "model = build(args.model)"),
            "model_parameters": found(25_000_000 + self.code, 32, "count_parameters(model)"),
            "dataset": found(f"shards-{self.code % 9}", 40, "dataset = load_dataset(args.data)"),
            "batch_size": found(2 ** (3 + self.code % 6), 52, "add_argument('--batch-size')"),
            "epochs": found(float(1 + self.code % 90), 53, "parser.add_argument('--epochs')"),
            "max_steps": found(self.steps, 60, "total = args.epochs * len(loader)"),
            "optimizer": found("adamw", 61, "optimizer = torch.optim.AdamW(model.parameters())"),
            "learning_rate": found(3e-4, 54, "parser.add_argument('--lr', type=float)"),
            "precision": found("bf16", 70, "with torch.autocast('cuda', dtype=torch.bfloat16):"),
            "gpus": found(self.gpus, 2, f"#SBATCH --gpus={self.gpus}"),
        }
        return Workload(**values)  # type: ignore[arg-type] # each has the type of its field

    def fingerprint(self) -> Fingerprint:
        rng = random.Random(self.code)
        signature = tuple(rng.getrandbits(31) for _ in range(16))
        arguments = f"arguments{self._rng.randrange(20)}"
        return Fingerprint(code=f"code{self.code}", arguments=arguments, signature=signature)

    def past_run(self, job: Job) -> PastRun:
        duration_s = job.run_time_s or 1.0
        curve = tuple(
            Mark(duration_s * place / 24, float(self.steps * place // 24)) for place in range(1, 25)
        )
        return PastRun(
            job=job,
            fingerprint=self.fingerprint(),
            workload=self.workload(),
            steps_done=float(self.steps),
            steps_unit="step",
            startup_s=12.0,
            profile=RunProfile(unit="step", curve=curve, total=float(self.steps)),
        )

    def progress(self, job: Job, share: float) -> Progress:
        return Progress(
            log=job.logs[0],
            phase="training",
            unit="step",
            current=float(int(share * self.steps)),
            total=float(self.steps),
            fraction=share,
            ends_by="total",
            rate_per_s=self.steps / self.duration_s,
            elapsed_s=share * self.duration_s,
            eta_s=_around((1 - share) * self.duration_s),
            metrics={"loss": 2.0 / (1 + 9 * share), "lr": 3e-4},
            confidence=0.9,
            format="key_value",
        )

    def diagnosis(self) -> Diagnosis:
        reason = _REASONS[self.number % len(_REASONS)]
        reason = reason if reason in REASONS else "gpu_oom"
        known = REASONS[reason]
        return Diagnosis(
            reason=reason,
            category=known.category,
            summary=f"the run died of {reason} in step {self.steps // 2}",
            evidence=tuple(
                Evidence(f"{self.id}.out", 400 + line, f"RuntimeError: {reason} at step {line}")
                for line in range(4)
            ),
            confidence=0.9,
            source="rule",
            decision=Decision(retry=known.retry, why=f"{reason}: {known.retry}"),
        )

    def actions(self, job: Job) -> list[Action]:
        order = Action(
            kind="set_nice",
            job_id=self.id,
            attempt=0,
            why=f"predicted to take {self.predicted.p50:.0f} s: shorter jobs first",
            reason=DecisionReason(
                code="shorter_first", ordering="sjf", predicted_s=self.predicted, basis="same_code"
            ),
            value=float(self.number % 1000),
        )
        if not job.state.failed:
            return [order]
        failure = self.diagnosis().reason
        why = f"{failure} is not worth a retry"
        reason = DecisionReason(code="not_worth_a_retry", failure=failure)
        return [order, Action(kind="leave", job_id=self.id, attempt=0, why=why, reason=reason)]

    def events(self, job: Job) -> list[Event]:
        """As the decision engine was sent them."""
        begun = job.start_time or job.submit_time
        seen = JobSeen(job.submit_time, replace(job, state=JobState.PENDING), Past())
        advised = JobAdvised(job.submit_time, self.id, self.advice())
        shares = (0.2, 0.7)
        length_s = (job.end_time or self._now) - begun
        progress = [
            ProgressSeen(begun + share * length_s, self.id, self.progress(job, share))
            for share in shares
        ]
        return [seen, advised, *progress]

    def log_line(self, step: int) -> str:
        loss = 2.0 / (1 + 9 * step / self.steps)
        return f"step {step}/{self.steps} loss={loss:.4f} lr=0.0003 it/s=3.1\n"


def _around(seconds: float) -> Spread:
    return Spread(seconds / 2, seconds, seconds * 2)
