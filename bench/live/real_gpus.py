"""The live experiment on a machine's own GPUs: small trainings that really use them, in the local
queue or on the site's Slurm, with and without SchedMate, one after the other.

    python -m bench.live.experiment --real-gpus --minutes 60

Each training uses one GPU. Before the arms a few runs of the same code make the history, and one
that its owner queues again is the proof that it resumes. Each arm begins with what was known then.
Nothing of a report names the machine, its users or its files.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bench.command import machine
from bench.live import las_control
from bench.live.preempted_runs import Stage, Training
from schedmate import __version__
from schedmate.advisor.predict import prediction
from schedmate.config import FairnessSettings, LlmSettings, LocalSettings, Settings
from schedmate.model import Job, JobId
from schedmate.service.daemon.assembling import assemble
from schedmate.service.wiring import open_scheduler
from schedmate.site_settings import PreemptionSettings

CODE = "gpu_steps.py"
ARMS = {"plain": "observe", "stack": "act"}
CONTROL = "las"
_JOBS_A_GPU = 8
_SPREAD = 1.3
"""Of the logarithm of how long trainings last."""
_WARM_SHARE, _ARRIVE_SHARE = 0.1, 0.4
"""Of all minutes for the history; of an arm's within which its trainings are submitted."""
_SAVES = 6
"""Checkpoints of a training."""
_TRIAL_STEPS = 400
_PATIENCE = 10.0
"""Times what is planned: other people may use the machine, too."""


class NoGpu(SystemExit):
    """The experiment can not run here."""


@dataclass(frozen=True, slots=True)
class Planned:
    at_s: float
    training: Training


@dataclass(frozen=True, slots=True)
class Ended:
    """Seconds."""

    jct_s: float
    first_wait_s: float
    runs: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    minutes: float
    python: Path
    scheduler: str
    gpus: int
    kinds: tuple[str, ...]
    arms: tuple[str, ...]
    poll_s: float = 1.0
    lock_dir: str = ""


def gpus_here() -> tuple[str, ...]:
    """What nvidia-smi calls the GPUs of this machine."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    text = subprocess.run([tool, "-L"], check=False, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if line.startswith("GPU ")]
    return tuple(line.partition(": ")[2].partition(" (UUID")[0] for line in lines)


def gpus_of_slurm() -> int:
    """Of the nodes of the site's Slurm that this machine belongs to; 0 where there is none."""
    if shutil.which("sinfo") is None:
        return 0
    asked = ["sinfo", "-h", "-N", "-o", "%n %G"]
    text = subprocess.run(asked, check=False, capture_output=True, text=True).stdout
    nodes = dict(line.split(None, 1) for line in text.splitlines() if " " in line)
    found = [part.split("(")[0].split(":") for gres in nodes.values() for part in gres.split(",")]
    return sum(int(words[-1]) for words in found if words[0] == "gpu" and words[-1].isdecimal())


def make_plan(minutes: float, python: Path, *, controls: bool, lock_dir: str = "") -> Plan:
    """`NoGpu` where none is found."""
    kinds, in_slurm = gpus_here(), gpus_of_slurm()
    if not kinds and not in_slurm:
        raise NoGpu("no GPU is found: nvidia-smi lists none here, and no Slurm has nodes with any")
    return Plan(
        minutes=minutes,
        python=python,
        scheduler="slurm" if in_slurm else "local",
        gpus=in_slurm or len(kinds),
        kinds=kinds,
        arms=(*ARMS, CONTROL) if controls else tuple(ARMS),
        lock_dir=lock_dir,
    )


def settings_of(plan: Plan, arm: str, root: Path) -> Settings:
    """An hour of a cluster is as much shorter as the arm is shorter than a day."""
    arm_minutes = plan.minutes / len(plan.arms)
    scale = arm_minutes / (24 * 60)
    short = 30 * scale
    return Settings(
        scheduler="slurm" if plan.scheduler == "slurm" else "local",
        mode="observe" if arm == "plain" else "act",
        settle_s=0.0,
        state_dir=root,
        local=LocalSettings(shared=False, poll_s=plan.poll_s, lock_dir=plan.lock_dir),
        fairness=FairnessSettings(late_hours=12 * scale),
        preemption=PreemptionSettings(
            after_minutes=short, ends_soon_minutes=short, give_back_minutes=0.5, widest=1.0
        ),
        llm=LlmSettings(enabled=False),
    )


def run(plan: Plan, directory: Path) -> dict[str, list[Ended]]:
    """Every arm's trainings, in the order of their submission."""
    directory.mkdir(parents=True, exist_ok=True)
    warm = directory / "state"
    step_s = make_history(plan, directory, warm)
    jobs = trainings(plan, step_s)
    found = {}
    for arm in plan.arms:
        state = directory / f"state-{arm}"
        shutil.copytree(warm, state)
        with stage_of(plan, arm, directory / arm, state) as stage, _predictor(arm):
            found[arm] = run_arm(stage, jobs, plan.poll_s)
    return found


@contextmanager
def stage_of(plan: Plan, arm: str, root: Path, state: Path) -> Iterator[Stage]:
    settings = settings_of(plan, arm, state)
    scheduler = open_scheduler(settings)
    root.mkdir(parents=True)
    stage = Stage(scheduler, settings, root, plan.python, plan.gpus)
    stage.patience_s = stage.limit_s = max(stage.limit_s, _PATIENCE * 60.0 * plan.minutes)
    try:
        yield stage
    finally:
        stage.clear()
        if hasattr(scheduler, "stop"):
            scheduler.stop()


@contextmanager
def _predictor(arm: str) -> Iterator[None]:
    usual = prediction.predict
    if arm == CONTROL:
        prediction.predict = las_control.predict_nothing
    try:
        yield
    finally:
        prediction.predict = usual


def make_history(plan: Plan, directory: Path, state: Path) -> float:
    """A few runs of other lengths, and one that was queued again; seconds of a step."""
    step_s = measure_step_s(plan, directory)
    whole_s = max(20 * step_s, 60 * plan.minutes * _WARM_SHARE / 4)
    with stage_of(plan, "stack", directory / "history", state) as stage:
        for number, share in enumerate((0.3, 0.6)):
            job_id = stage.train(_training(f"past-{number}", share * whole_s / step_s))
            with stage.daemon() as daemon:
                stage.until(partial(stage.is_over, job_id), "the end", daemon=daemon)
        stage.prove(_training("proof", whole_s / step_s))
    return step_s


def measure_step_s(plan: Plan, directory: Path) -> float:
    """By two runs beside the scheduler: the longer less the shorter is steps alone."""
    times = []
    for number, steps in enumerate((1, _TRIAL_STEPS)):
        place = directory / f"trial-{number}"
        place.mkdir(parents=True)
        began = time.monotonic()
        code = Stage.script(CODE)
        words = ["--steps", str(steps), "--every", str(10 * steps)]
        subprocess.run([plan.python, code, *words], cwd=place, check=True, capture_output=True)
        times.append(time.monotonic() - began)
    return max(1e-5, (times[1] - times[0]) / (_TRIAL_STEPS - 1))


def trainings(plan: Plan, step_s: float) -> list[Planned]:
    """So many that an arm has work for its time, most of them short."""
    rng = random.Random(1)
    count = max(12, _JOBS_A_GPU * plan.gpus)
    arm_s = 60 * plan.minutes * (1 - _WARM_SHARE) / len(plan.arms)
    lengths = [rng.lognormvariate(0.0, _SPREAD) for _ in range(count)]
    longest = sorted(lengths)[-2]
    lengths = [min(each, longest) for each in lengths]
    unit = 0.7 * arm_s * plan.gpus / sum(lengths)
    times = sorted(rng.uniform(0.0, _ARRIVE_SHARE * arm_s) for _ in lengths)
    return [
        Planned(at, _training(f"run-{number}", unit * length / step_s))
        for number, (at, length) in enumerate(zip(times, lengths, strict=True))
    ]


def _training(name: str, steps: float) -> Training:
    whole = max(2, round(steps))
    every = max(1, math.ceil(whole / _SAVES))
    return Training(code=CODE, name=name, steps=whole, every=every, step_s=0.0, gpus=1)


def run_arm(stage: Stage, jobs: Sequence[Planned], poll_s: float) -> list[Ended]:
    began, left = time.time(), list(jobs)
    submitted: dict[JobId, float] = {}
    first: dict[JobId, float] = {}
    with assemble(stage.settings) as daemon:
        while True:
            while left and time.time() - began >= left[0].at_s:
                job_id = stage.train(left.pop(0).training)
                submitted[job_id] = time.time()
            daemon.cycle(time.time())
            seen = stage.scheduler.jobs(list(submitted)) if submitted else []
            for job in seen:
                if job.start_time is not None:
                    first.setdefault(job.id, job.start_time)
            if not left and all(job.state.ended for job in seen):
                return [_ended(job, submitted[job.id], first) for job in seen]
            time.sleep(poll_s)


def _ended(job: Job, submitted: float, first: Mapping[JobId, float]) -> Ended:
    return Ended(
        jct_s=(job.end_time or submitted) - submitted,
        first_wait_s=max(0.0, first.get(job.id, submitted) - submitted),
        runs=job.restarts + 1,
        state=str(job.state),
    )


def figures(ended: Sequence[Ended]) -> dict[str, float]:
    jct = [each.jct_s for each in ended]
    return {
        "jobs": len(ended),
        "completed": sum(each.state == "COMPLETED" for each in ended),
        "average_jct_s": float(np.mean(jct)),
        "median_jct_s": float(np.median(jct)),
        "p99_jct_s": float(np.percentile(jct, 99)),
        "average_first_wait_s": float(np.mean([each.first_wait_s for each in ended])),
        "runs": sum(each.runs for each in ended),
    }


def write_report(plan: Plan, found: Mapping[str, Sequence[Ended]], directory: Path) -> Path:
    """As JSON and as Markdown; the path of the latter."""
    rows = {arm: figures(ended) for arm, ended in found.items()}
    base = rows["plain"]["average_jct_s"]
    gains = {arm: base / row["average_jct_s"] for arm, row in rows.items()}
    facts = {
        "schedmate": __version__,
        "machine": machine(),
        "gpus": plan.gpus,
        "kinds": sorted(set(plan.kinds)),
        "scheduler": plan.scheduler,
        "torch": torch_of(plan.python),
        "minutes": plan.minutes,
    }
    directory.mkdir(parents=True, exist_ok=True)
    jobs = {arm: [asdict(each) for each in ended] for arm, ended in found.items()}
    whole = {"facts": facts, "figures": rows, "times_better": gains, "jobs": jobs}
    (directory / "report.json").write_text(json.dumps(whole, indent=1) + "\n")
    path = directory / "report.md"
    path.write_text(_as_markdown(facts, rows, gains))
    return path


_ABOUT = (
    "`plain` is the scheduler alone with SchedMate only watching, `stack` is SchedMate in mode "
    "`act`, `las` the same without predictions. Arms ran one after the other, once each: what "
    "differs by a tenth may be chance."
)


def _as_markdown(
    facts: Mapping[str, object],
    rows: Mapping[str, Mapping[str, float]],
    gains: Mapping[str, float],
) -> str:
    head = [
        "# SchedMate on real GPUs",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
    ]
    shown = [["", *rows], ["---"] * (len(rows) + 1)]
    shown += [
        [name.replace("_", " "), *(f"{row[name]:.5g}" for row in rows.values())]
        for name in rows["plain"]
    ]
    shown.append(["times better", *(f"{gain:.2f}" for gain in gains.values())])
    table = [f"| {' | '.join(cells)} |" for cells in shown]
    return "\n".join([*head, "", *table, "", _ABOUT, ""])


_ASK_TORCH = (
    "import torch; print(torch.__version__, 'CUDA', torch.version.cuda, "
    "'used' if torch.cuda.is_available() else 'not used')"
)


def torch_of(python: Path) -> str:
    words = [str(python), "-c", _ASK_TORCH]
    answer = subprocess.run(words, check=False, capture_output=True, text=True)
    return answer.stdout.strip() or "none"


def run_and_report(minutes: float, python: Path | None, directory: Path, *, controls: bool) -> None:
    plan = make_plan(minutes, python or Path(sys.executable), controls=controls)
    if torch_of(plan.python) == "none":
        raise NoGpu(f"{plan.python} has no torch: name one that has with --python")
    found = run(plan, directory / "runs")
    print(write_report(plan, found, directory).read_text())
    shutil.rmtree(directory / "runs")
