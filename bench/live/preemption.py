"""Real trainings that make way for short jobs on a private Slurm: what it costs them, and whether
anything is lost.

    python -m bench.live.preemption     # as root, with .venv-frameworks; 15 minutes
    python -m bench.live.preemption --codes torch_steps.py --no-faults

Each code is trained undisturbed with three seeds; once its owner queues a run again, which is the
proof; then a run makes way. With the same seed it has to end at the same step with the same loss.
Under faults the daemon, a process, is killed by SIGKILL before and after each thing that it asks of
scheduler and store, slurmctld is stopped, the node goes down, a run is killed as it saves, and a
run loses its checkpoint.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.command import command_line, console, machine, table
from bench.live.preempted_runs import CODES, Stage, Training, is_held, settings_for
from schedmate.model import JobId
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.testing.slurm_cluster import SlurmCluster, private_slurm

_PYTHON = Path(__file__).parents[2] / ".venv-frameworks/bin/python"
_GPUS = 2
_COUNTED = ("requeue", "release", "intend", "settle")
_SHORT = Training(code=CODES[0], name="short")


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    runs: int
    step: int
    loss: float
    repeated: int
    stops: int
    fine: bool


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--codes", nargs="+", choices=CODES, default=CODES)
    parser.add_argument("--python", type=Path, default=_PYTHON)
    parser.add_argument("--no-faults", action="store_true")
    options = parser.parse_args()
    settings = {"SchedulerParameters": "bf_interval=1,sched_interval=1,batch_sched_delay=1"}
    root = Path(tempfile.mkdtemp(prefix="schedmate-preemption-"))
    shown = table(
        f"runs that made way ({machine()})",
        ["run", "runs", "last step", "last loss", "steps repeated", "stops", "as undisturbed"],
    )
    try:
        with private_slurm(nodes=1, gpus_per_node=_GPUS, settings=settings) as cluster:
            made = settings_for("slurm", root)
            stage = Stage(SlurmScheduler(), made, root / "jobs", options.python, _GPUS)
            stage.root.mkdir()
            stage.store().close()
            for row in _rows(stage, cluster, options.codes, faults=not options.no_faults):
                shown.add_row(
                    row.name,
                    str(row.runs),
                    str(row.step),
                    f"{row.loss:.6g}",
                    str(row.repeated),
                    str(row.stops),
                    "yes" if row.fine else "NO",
                )
                console().print(row.name, "as it should be" if row.fine else "NOT as it should be")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    console().print(shown)


def _rows(
    stage: Stage, cluster: SlurmCluster, codes: tuple[str, ...], *, faults: bool
) -> Iterator[Row]:
    for code in codes:
        yield from _of_code(stage, code)
    if faults:
        yield from _faults(stage, cluster)


def _of_code(stage: Stage, code: str) -> Iterator[Row]:
    name = code.removesuffix("_steps.py")
    losses = []
    shape = Training(code=code, name=name)
    if code != CODES[0]:  # what is seen by files alone, or starts slowly, needs longer runs
        shape = replace(shape, steps=400, every=80)
    for seed in range(3):
        plain = stage.undisturbed(replace(shape, name=f"{name}-{seed}", seed=seed))
        losses.append(plain.loss)
        yield Row(f"{name}, seed {seed}, undisturbed", 1, plain.step, plain.loss, 0, 0, fine=True)
    proof = stage.prove(replace(shape, name=f"{name}-proof"))
    same = (proof.step, proof.loss) == (shape.steps, losses[0])
    yield Row(f"{name}, queued again by its owner", *_shown(proof), 0, fine=same)
    job_id = stage.make_way(replace(shape, name=f"{name}-way"))
    yield _row(stage, f"{name}, made way", job_id, losses[0], shape=shape)


def _shown(outcome: Any) -> tuple[int, int, float, int]:
    return outcome.runs, outcome.step, outcome.loss, outcome.repeated


def _row(
    stage: Stage,
    name: str,
    job_id: JobId,
    loss: float,
    *,
    stops: int = 1,
    least: int | None = None,
    shape: Training = _SHORT,
) -> Row:
    outcome = stage.outcome(job_id)
    done = [one for one in stage.actions("preempt") if one.action.job_id == job_id and one.done]
    fine = (outcome.state, outcome.step) == ("COMPLETED", shape.steps)
    expected = (stops if least is None else least) <= len(done) <= stops
    fine = fine and outcome.loss == loss and expected
    return Row(name, *_shown(outcome), len(done), fine=fine and outcome.repeated < shape.every)


def _faults(stage: Stage, cluster: SlurmCluster) -> Iterator[Row]:
    code = CODES[0]
    loss = stage.undisturbed(Training(code=code, name="reference")).loss
    for number, after in ((number, after) for number in range(1, 7) for after in (False, True)):
        when = f"{'after' if after else 'before'} step {number}"
        training = Training(code=code, name=f"killed-{number}-{after}")
        job_id, killed = _with_dying_daemon(stage, training, number, after=after)
        nothing_yet = number == 1 and not after  # the next one need not find it worth it any more
        row = _row(stage, f"daemon killed {when}", job_id, loss, least=0 if nothing_yet else 1)
        yield row if killed else replace(row, name=f"{row.name}: was not", fine=False)
    job_id = stage.make_way(Training(code=code, name="away"), during=partial(_controller, cluster))
    yield _row(stage, "slurmctld away while held", job_id, loss)
    job_id = stage.make_way(Training(code=code, name="lost"), during=lambda _: _node_lost())
    yield _row(stage, "node lost while held", job_id, loss)
    yield _killed_while_saving(stage, loss)
    yield from _loses_checkpoint(stage, loss)


def _with_dying_daemon(
    stage: Stage, training: Training, number: int, *, after: bool
) -> tuple[JobId, bool]:
    """The first daemon dies at this step of stopping the run; another one follows."""
    job_id = stage.train(training)

    def serve() -> None:
        with stage.daemon() as daemon:
            stage.until(lambda: stage.is_known_to_save(job_id), "a checkpoint", daemon=daemon)
            _let_die(daemon, number, after=after)
            stage.short_jobs()
            stage.until(lambda: stage.is_over(job_id), "the end", daemon=daemon)

    first = get_context("fork").Process(target=serve)
    first.start()
    first.join()
    with stage.daemon() as daemon:
        stage.until(lambda: stage.is_over(job_id), "the end", daemon=daemon)
    return job_id, first.exitcode == -signal.SIGKILL


def _let_die(daemon: Daemon, number: int, *, after: bool) -> None:
    left = number

    def call(method: Callable[..., Any], *args: Any, **words: Any) -> Any:
        nonlocal left
        left -= getattr(args[0], "kind", "") != "set_nice"
        if left == 0 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = method(*args, **words)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    def counted(inner: Any) -> Any:
        class Counted:
            def __getattr__(self, name: str) -> Any:
                method = getattr(inner, name)
                return partial(call, method) if name in _COUNTED else method

        return Counted()

    own: Any = daemon._actions  # noqa: SLF001 - the daemon has no other place to die at
    scheduler, store = counted(own._scheduler), counted(own._store)  # noqa: SLF001 - as above
    daemon._actions = Actions(scheduler, store, "act")  # noqa: SLF001 - as above


def _controller(cluster: SlurmCluster, _: JobId) -> None:
    cluster.stop_daemon("slurmctld")
    time.sleep(3)
    cluster.start_controller()


def _node_lost() -> None:
    down = ["scontrol", "update", "NodeName=node0"]
    subprocess.run([*down, "State=DOWN", "Reason=lost"], check=True)
    time.sleep(2)
    subprocess.run([*down, "State=RESUME"], check=False)  # it may have come back by itself


def _killed_while_saving(stage: Stage, loss: float) -> Row:
    training = Training(code=CODES[0], name="saving", save_s=3.0)
    job_id = stage.train(training)
    draft = stage.started[job_id] / "checkpoints/last.pt.tmp"
    with stage.daemon() as daemon:
        stage.until(lambda: stage.is_known_to_save(job_id), "a checkpoint", daemon=daemon)
        stage.until(draft.exists, "the next checkpoint", daemon=daemon)
        stage.short_jobs()
        daemon.cycle(time.time())
        stopped = [one for one in stage.actions("preempt") if one.action.job_id == job_id]
        saving = draft.exists()
        stage.until(lambda: stage.queue_again(job_id), "the requeue")
        stage.until(lambda: stage.is_over(job_id), "the end", daemon=daemon)
    row = _row(stage, "killed by its owner as it saves", job_id, loss, stops=0)
    outcome = stage.outcome(job_id)
    same = (outcome.step, outcome.loss) == (training.steps, loss)
    return Row(row.name, *_shown(outcome), row.stops, fine=same and saving and not stopped)


def _loses_checkpoint(stage: Stage, loss: float) -> Iterator[Row]:
    def lose(job_id: JobId) -> None:
        shutil.rmtree(stage.started[job_id] / "checkpoints")

    job_id = stage.make_way(Training(code=CODES[0], name="loses"), during=lose)
    outcome = stage.outcome(job_id)
    done = [one for one in stage.actions("preempt") if one.action.job_id == job_id and one.done]
    fine = (outcome.step, outcome.loss, len(done)) == (_SHORT.steps, loss, 1)
    yield Row("its checkpoint was lost: begins anew", *_shown(outcome), len(done), fine=fine)
    job_id = stage.make_way(Training(code=CODES[0], name="never-again"))
    yield _row(stage, "the same code afterwards", job_id, loss, stops=0)
    assert not is_held(stage.job(job_id))


if __name__ == "__main__":
    main()
