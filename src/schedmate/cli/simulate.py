"""schedmate simulate: what a policy would do to a trace of jobs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from schedmate.cli._common import echo, json_option, verb
from schedmate.cli._simulate_options import (
    check_controls,
    check_synthetic_code,
    gpus_of,
    kinds_of,
    levers_of,
    slurm_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.simulator.report import Sensitivity
    from schedmate.simulator.sweeps import SimulationResult, SimulationTask

_STRICT, _FIRST_FIT = "fifo", "first-fit"
_MOST = 10_000_000


@verb(
    examples="""
schedmate simulate synthetic --policy fifo,easy,sjf
schedmate simulate trace.csv.gz --policy all --load 0.9 --report report.html
schedmate simulate trace.csv --policy easy,easy+advisor,easy+schedmate --gpus 256 --json
schedmate simulate store: --policy easy,easy+schedmate
schedmate simulate synthetic --policy easy,easy+schedmate --resumable 0.6 --shareable 0.2
schedmate simulate sacct.txt --scripts scripts/ --policy slurm,slurm+schedmate
schedmate simulate synthetic --jobs 20000 --gpus 128 --gpus-per-node 8 --faults
schedmate simulate synthetic --policy fifo,gavel --gpu-kinds a100:16:2.5,v100:48
schedmate simulate trace.csv --sweep load=0.7,0.9,1.1 --sweep seed=0..4 --save sweep.csv
"""
)
@click.argument("traces", metavar="TRACE...", nargs=-1, required=True)
@click.option(
    "--policy",
    "policies",
    default="fifo,sjf",
    show_default=True,
    metavar="P[,P...]",
    help="Policies, the first being the baseline; `all` is every one. sjf, ssf, srtf and srsf go "
    "by predictions, sjf-oracle and so on by the truth. +advisor, +tracker, +handler add a part of "
    "SchedMate, +schedmate all three; +limits lowers time limits too.",
)
@click.option(
    "--gpus",
    type=click.IntRange(1, _MOST),
    help="GPUs of the cluster. [default: 64 for a synthetic trace, else what makes the load]",
)
@click.option("--nodes", type=click.IntRange(1, _MOST), help="Nodes; needs --gpus-per-node.")
@click.option(
    "--gpus-per-node", type=click.IntRange(1, 1024), help="Divide the GPUs into nodes of so many."
)
@click.option(
    "--spread",
    is_flag=True,
    help="Scatter a job over nodes where it cannot be kept together; it runs more slowly then.",
)
@click.option(
    "--gpu-kinds",
    metavar="NAME:GPUS:SPEED[,...]",
    help="GPUs of several kinds instead, the preferred one first; speed 1 is that of the trace.",
)
@click.option(
    "--load",
    type=click.FloatRange(0.01, 10),
    help="Size the cluster so that jobs ask for so many times what it can do while they come; "
    "a synthetic trace is drawn for it. [default: 0.9]",
)
@click.option(
    "--slurm-config",
    metavar="FILE",
    help="What `scontrol show config` prints: the weights and intervals of slurm and multifactor.",
)
@click.option(
    "--read-code",
    is_flag=True,
    help="Read the code that an export names (WorkDir and SubmitLine; script, workdir, command).",
)
@click.option(
    "--scripts",
    metavar="PATH",
    help="The batch scripts of an export's jobs: a directory of files with the job id in their "
    "names, or what `sacct --batch-script` printed. Reads their code, too.",
)
@click.option("--faults", is_flag=True, help="Let nodes fail and be repaired.")
@click.option("--by-group", is_flag=True, help="Give each group of the trace a pool of its own.")
@click.option("--backfill", is_flag=True, help="Take first-fit in the place of fifo.")
@click.option(
    "--restart-cost",
    type=click.FloatRange(0, 86_400),
    default=60.0,
    show_default=True,
    help="Seconds that a job loses each time it goes on after a stop.",
)
@click.option(
    "--workload/--no-workload",
    "--overlay/--no-overlay",
    "workload",
    default=None,
    help="Give each job synthetic code, which SchedMate then reads; rows that go by it say so. "
    "[default: only for the jobs of a synthetic trace]",
)
@click.option(
    "--explained",
    type=click.FloatRange(0, 0.9),
    metavar="SHARE",
    help="How much of the variance of log run times the numbers in the code explain; the rest is "
    "chance. [default: 0.45]",
)
@click.option(
    "--resumable",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Jobs that go on from their last checkpoint: beside a scheduler, runs of such jobs make "
    "way for shorter ones. [default: 0]",
)
@click.option(
    "--shareable",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Jobs that leave most of a GPU idle and may share it. [default: 0]",
)
@click.option(
    "--doomed",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Jobs that show in the middle of their run that it is in vain, and are ended then. "
    "[default: 0]",
)
@click.option(
    "--controls",
    is_flag=True,
    help="Run each policy with an advisor by other predictors, too: constant, permuted, the user's "
    "last two runs, history, QSSF's, the site model, and the truth; with --resumable also without "
    "any, and at blind moments.",
)
@click.option(
    "--error",
    type=click.FloatRange(0, 10),
    help="Predict true run times with this error (standard deviation of the logarithm).",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all chance."
)
@click.option(
    "--jobs",
    type=click.IntRange(1, _MOST),
    default=2000,
    show_default=True,
    help="Jobs of a synthetic trace.",
)
@click.option("--like", metavar="NAME", help="Draw a synthetic trace like philly, helios or acme.")
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="NAME=V[,V...]",
    help="Try each value, and each combination with other sweeps; a..b is a range.",
)
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes. [default: all cores]")
@click.option("--ray", "ray_address", metavar="ADDRESS", help="Sweep on this Ray cluster.")
@click.option("--report", "report", metavar="HTML", help="Write a page with plots.")
@click.option("--save", "table", metavar="FILE", help="Write all figures as .csv or .jsonl.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    report: str | None,
    table: str | None,
    workers: int | None,
    ray_address: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Compare policies on each TRACE: a table of past jobs.

    A plain table needs the columns job_id, user, submit_time, duration and gpus; public traces
    are read as they are published. The word `synthetic` stands for a trace drawn on the spot,
    `store:` for the runs of the store in use and what was read of their code; `store:FILE` for
    those of another one.
    """
    tasks = _tasks(**asked)
    _check_places(report, table)
    _say_what_is_missing()
    reported = _first_of_each(tasks) if report else frozenset()
    several = bool(asked["sweeps"]) or workers is not None
    results = _results(tasks, reported, workers=workers if several else 1, ray_address=ray_address)
    found = _sensitivities(results)
    if report:
        _write_report(Path(report), results, found, _as_typed(ctx))
    if table:
        from schedmate.simulator.sweeps import save

        save(Path(table), results)
    _print(results, found, as_json=as_json)


def _say_what_is_missing() -> None:
    """A clone adds these packages before the first simulation, an installation has them or not."""
    from schedmate.model.extras import is_there, needs

    if not is_there("numba"):
        echo(needs("simulating slowly, as compiled kernels need", "numba"), err=True)


def _tasks(
    *,
    traces: tuple[str, ...],
    policies: str,
    backfill: bool,
    nodes: int | None,
    gpu_kinds: str | None,
    slurm_config: str | None,
    restart_cost: float,
    sweeps: tuple[str, ...],
    explained: float | None,
    read_code: bool = False,
    scripts: str | None = None,
    resumable: float = 0.0,
    shareable: float = 0.0,
    doomed: float = 0.0,
    **asked: Any,
) -> list[SimulationTask]:
    """Each trace in each setting; what cannot be asked is refused before anything is read."""
    from schedmate.cli._store_trace import trace_file, with_code
    from schedmate.model import BadInput
    from schedmate.simulator import plans
    from schedmate.simulator.sweeps import SYNTHETIC, SimulationTask, settings_of

    names = tuple(each.name for each in plans(re.sub(r"^\s*all\b", f"{_STRICT},all", policies)))
    if backfill:
        names = tuple(dict.fromkeys(_first_fit(name) for name in names))
    asked["gpus"] = gpus_of(asked["gpus"], nodes, asked["gpus_per_node"])
    asked["kinds"] = kinds_of(gpu_kinds, asked)
    asked["gpus"] = sum(kind.gpus for kind in asked["kinds"]) or asked["gpus"]
    if asked["spread"] and not asked["gpus_per_node"]:
        raise BadInput("--spread is over nodes: say --gpus-per-node, for example 8")
    if asked["gpus"] and asked["load"] and set(traces) != {SYNTHETIC}:
        raise BadInput("the jobs of a file make the load: say either --load or the GPUs")
    asked["slurm"] = slurm_parameters(slurm_config, names)
    asked["levers"] = levers_of(names, resumable=resumable, shareable=shareable, doomed=doomed)
    if asked["controls"]:
        check_controls(names, asked["error"])
    if explained is not None:
        asked["assumed"] = {"explained": explained}
    settings = settings_of(sweeps)
    if read_code or scripts:
        if asked["workload"] is not None:
            raise BadInput("--read-code and --scripts take the place of a workload: leave that out")
        check_synthetic_code(explained, settings)
        place = Path(click.get_current_context().with_resource(TemporaryDirectory()))
        traces = tuple(with_code(trace, scripts, place) for trace in traces)
    return [
        SimulationTask(source=source, policies=names, restart_s=restart_cost, **asked).with_values(
            values
        )
        for source in map(trace_file, traces)
        for values in settings
    ]


def _first_fit(name: str) -> str:
    policy, plus, parts = name.partition("+")
    return f"{_FIRST_FIT}{plus}{parts}" if policy == _STRICT else name


def _check_places(report: str | None, table: str | None) -> None:
    """Hours of simulation must not end in a directory that is not there."""
    from schedmate.model import BadInput
    from schedmate.simulator.sweeps import unusable

    if report and not Path(report).parent.is_dir():
        raise BadInput(f"there is no directory {Path(report).parent} for the report; make it first")
    if table and (why := unusable(Path(table))):
        raise BadInput(f"--save: {why}")


def _first_of_each(tasks: Sequence[SimulationTask]) -> frozenset[int]:
    first = {task.source: number for number, task in reversed([*enumerate(tasks)])}
    return frozenset(first.values())


def _results(
    tasks: Sequence[SimulationTask],
    reported: frozenset[int],
    *,
    workers: int | None,
    ray_address: str | None,
) -> list[SimulationResult]:
    from schedmate.cli._simulated import (
        progress,
        talk_of_rows,
        warn_of_hours,
        warn_of_unread_code,
    )
    from schedmate.simulator.sweeps import expected_s, run_tasks

    with progress() as on_progress:
        warned = warn_of_hours(expected_s(tasks, workers=workers, on_progress=on_progress))

        def on_done(done: int, total: int) -> None:
            if on_progress is not None and total > 1:
                on_progress("settings", done, total)

        found = run_tasks(
            tasks,
            reported=reported,
            workers=workers,
            ray_address=ray_address,
            on_done=on_done,
            on_progress=on_progress,
            on_hours=None if warned else warn_of_hours,
        )
    for number in sorted(_first_of_each(tasks)):
        talk_of_rows(found[number])
        warn_of_unread_code(found[number])
    return found


def _sensitivities(results: Sequence[SimulationResult]) -> list[Sensitivity]:
    from schedmate.simulator.report import sensitivities

    sources = dict.fromkeys(each.task.source for each in results)
    return [
        found
        for source in sources
        for found in sensitivities(
            source, [each.compared for each in results if each.task.source == source]
        )
    ]


def _write_report(
    path: Path, results: Sequence[SimulationResult], found: Sequence[Sensitivity], typed: str
) -> None:
    from schedmate.simulator.report import write_report

    write_report(
        path,
        [each.digest for each in results if each.digest is not None],
        command=typed,
        sensitivity=found,
    )


def _print(
    results: Sequence[SimulationResult], found: Sequence[Sensitivity], *, as_json: bool
) -> None:
    from schedmate.cli._common import print_json
    from schedmate.cli._simulated import show, show_sweep

    if as_json:
        for each in results:
            print_json(each.compared.as_json())
    elif found:
        for each_found in found:
            show_sweep(each_found)
    else:
        for each in results:
            show(each.compared)


def _as_typed(ctx: click.Context) -> str:
    """The command that does the same again."""
    words = ["schedmate", "simulate"]
    for param in ctx.command.params:
        if ctx.get_parameter_source(param.name or "") is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[param.name or ""]
        words += _words(param, value)
    return shlex.join(words)


def _words(param: click.Parameter, value: Any) -> list[str]:
    if isinstance(param, click.Argument):
        return list(value)
    if isinstance(value, bool):
        return [param.opts[0] if value else param.secondary_opts[0]]
    values = value if isinstance(value, tuple) else (value,)
    return [word for each in values for word in (param.opts[0], str(each))]
