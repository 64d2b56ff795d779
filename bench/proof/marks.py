"""Where real data lie on the x-axis of the main figure: what is explained out of sample.

    python -m bench.proof.marks                     # public runs and an LSF site
    python -m bench.proof.marks nanogpt             # one of them
    python -m bench.proof.marks --store STATE_DIR   # and the runs of a site's own store

The quantity is that of the axis: the share of the variance of log run times (below a second counts
as one) that predictions explain, 1 - mean squared residual / variance; below 0 where the mean of
all runs would be closer. Runs are replayed as `schedmate backtest` does it: each is predicted when
it was submitted, by SchedMate, from the runs that had ended by then. Of a series of runs of the
same configuration (a system on a benchmark of MLPerf, one code of nanogpt) only the first counts:
the others would be predicted by it, and not by what their code states.

A column is what predictions may see: the request alone (GPUs, CPUs, nodes); with it user and job
name; with it the code and nothing else of the job (at the LSF site, whose code is unknown, the job
name); or all. The mark is the code's column, its bar the 95 % interval with days of a user drawn
as blocks. It is what SchedMate makes of the code, so no more than what the code explains.

`bench.proof.gain` draws them; they are kept in build/proof for each revision.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from bench.command import command_line, console, machine, table
from bench.corpora import traces
from bench.corpora.training_runs import mlperf_runs, nanogpt_runs
from bench.datasets import required
from bench.proof.drawing import Mark
from bench.proof.predictions import KEPT, revision
from schedmate.advisor.predict.jobs import EndedJob
from schedmate.model import Job, PastRun, Request, Workload
from schedmate.service.usecases.backtest import OURS, Predicted, RunReplay
from schedmate.service.usecases.backtest_scores import block_of, explained
from schedmate.simulator.synthetic.workload import Assumptions
from schedmate.store.sqlite import SqliteStore

_SHORTEST_S = 1.0
_DRAWS = 1000
_MOST = 1_000_000
Hidden = Callable[[PastRun], PastRun]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Real runs, and which part of them stands for code."""

    label: str
    runs: Callable[[], list[PastRun]]
    code: str = "code"
    """What the mark rests on: a key of `SEEN`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Of the variance of log run times that is explained, and its 95 % interval."""

    explained: float
    low: float
    high: float
    runs: int


def _request(run: PastRun) -> PastRun:
    """Only what every scheduler knows of any job, with no word chosen by its user."""
    request = replace(run.job.request, partition=None, time_limit_s=None)
    job = replace(run.job, user="", name="", command=(), request=request)
    return replace(run, job=job, workload=Workload(), fingerprint=None)


def _named(run: PastRun) -> PastRun:
    hidden = _request(run)
    return replace(hidden, job=replace(hidden.job, name=run.job.name))


def _owned(run: PastRun) -> PastRun:
    hidden = _named(run)
    return replace(hidden, job=replace(hidden.job, user=run.job.user))


def _coded(run: PastRun) -> PastRun:
    return replace(_request(run), workload=run.workload, fingerprint=run.fingerprint)


SEEN: dict[str, Hidden] = {
    "request": _request,
    "user and name": _owned,
    "name": _named,
    "code": _coded,
    "all": lambda run: run,
}
"""What predictions may see of a run, by column."""


def _lsf_runs() -> list[PastRun]:
    return [_as_run(ended) for ended in traces.jobs("lsf") if ended.duration_s > 0]


def _as_run(ended: EndedJob) -> PastRun:
    facts = ended.facts
    job = Job(
        id=facts.job_id,
        name=facts.name,
        user=facts.user,
        state=ended.state,
        workdir="/",
        command=tuple(facts.command.split()),
        request=Request(
            gpus=facts.gpus,
            cpus=facts.cpus or None,
            time_limit_s=facts.limit_s,
            partition=facts.partition,
        ),
        submit_time=facts.submitted_at,
        start_time=ended.started_at,
        end_time=ended.ended_at,
    )
    return PastRun(job=job, workload=Workload())


def _mlperf_runs() -> list[PastRun]:
    return _first_of_each(mlperf_runs(required("logs") / "mlperf_runs.csv.gz"))


def _nanogpt_runs() -> list[PastRun]:
    """Runs whose code is not in their log are left out."""
    found = (run for _, run in nanogpt_runs(required("logs") / "modded_nanogpt_runs.csv.gz"))
    return _first_of_each((run.fingerprint, run) for run in found if run.fingerprint)


def _first_of_each(series: Iterable[tuple[object, PastRun]]) -> list[PastRun]:
    ordered = sorted(series, key=lambda pair: pair[1].job.submit_time, reverse=True)
    return list(dict(ordered).values())


SOURCES = {
    "mlperf": Source(label="MLPerf", runs=_mlperf_runs),
    "nanogpt": Source(label="nanogpt", runs=_nanogpt_runs),
    "lsf": Source(label="LSF job names", runs=_lsf_runs, code="name"),
}


def replayed(runs: Sequence[PastRun], seen: Hidden) -> list[Predicted]:
    """Each predicted from what had ended before, all with the same parts hidden."""
    with TemporaryDirectory() as place, closing(SqliteStore(Path(place) / "store.db")) as store:
        return RunReplay(store, [seen(run) for run in runs]).predicted(lambda *_: None)


def share(predicted: Sequence[Predicted], blocks: Sequence[str]) -> Share:
    """Of the runs of which anything was predicted."""
    pairs = [
        (each.run.duration_s, spread.p50, block)
        for each, block in zip(predicted, blocks, strict=True)
        if (spread := each.spreads[OURS]) is not None
    ]
    real, middle = (
        np.log(np.maximum([pair[column] for pair in pairs], _SHORTEST_S)) for column in (0, 1)
    )
    codes = np.unique([pair[2] for pair in pairs], return_inverse=True)[1]
    drawn = [explained(real[which], middle[which]) or 0.0 for which in _drawn_blocks(codes)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    whole = explained(real, middle) or 0.0
    return Share(explained=whole, low=float(low), high=float(high), runs=len(pairs))


def _drawn_blocks(codes: NDArray[np.int64]) -> Iterable[NDArray[np.int64]]:
    """Places of the runs of as many blocks as there are, with replacement."""
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    rng = np.random.default_rng(0)
    for _ in range(_DRAWS):
        chosen = rng.integers(0, len(members), len(members))
        yield np.concatenate([members[block] for block in chosen])


def shares(source: Source, columns: Iterable[str] = SEEN) -> dict[str, Share]:
    """By what predictions may see; where there is no code, without that column."""
    runs = sorted(source.runs(), key=lambda run: run.job.submit_time)
    with_code = any(run.workload != Workload() for run in runs)
    found = {}
    for column in columns:
        if (column == "name" and source.code != "name") or (column == "code" and not with_code):
            continue
        predicted = replayed(runs, SEEN[column])
        # a replay numbers the runs in order of submission, and knows no user where that is hidden
        jobs = [runs[int(each.run.job.id)].job for each in predicted]
        found[column] = share(predicted, [block_of(job.user, job.submit_time) for job in jobs])
    return found


def real_marks(sources: Mapping[str, Source] = SOURCES) -> tuple[Mark, ...]:
    """Each measured once for a revision; and the default of the synthetic workload."""
    default = Assumptions().explained
    drawn = [_kept_mark(name, source) for name, source in sources.items()]
    return (*drawn, Mark("default", default, default, default))


def _kept_mark(name: str, source: Source) -> Mark:
    kept = KEPT / revision() / f"mark {name}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        measured = mark_of(source, shares(source, [source.code]))
        kept.write_text(json.dumps(asdict(measured)), encoding="utf-8")
    return Mark(**json.loads(kept.read_text(encoding="utf-8")))


def mark_of(source: Source, found: dict[str, Share]) -> Mark:
    one = found[source.code]
    return Mark(source.label, one.low, one.explained, one.high)


def _store(state_dir: Path) -> Source:
    path = state_dir / "schedmate.sqlite3"
    if not path.is_file():
        raise SystemExit(f"there is no store in {state_dir}: name the directory of the state")

    def runs() -> list[PastRun]:
        with closing(SqliteStore(path)) as store:
            return [run for run in store.recent_runs(limit=_MOST) if run.duration_s > 0]

    return Source(label=str(state_dir), runs=runs)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SOURCES))
    parser.add_argument("--store", type=Path, metavar="STATE_DIR", help="a site's own runs, too")
    asked = parser.parse_args()
    if unknown := set(asked.sets) - set(SOURCES):
        parser.error(f"no such set: {', '.join(sorted(unknown))}; there are {', '.join(SOURCES)}")
    began = time.monotonic()
    sources = [SOURCES[name] for name in asked.sets or SOURCES]
    if asked.store:
        sources.append(_store(asked.store))
    shown = table("share of the variance of log run times explained", ("runs of", *SEEN, "runs"))
    for source in sources:
        found = shares(source)
        cells = (_cell(found.get(column), marked=column == source.code) for column in SEEN)
        shown.add_row(source.label, *cells, str(found["all"].runs))
    console().print(shown)
    print(f"* the mark; predictions of revision {revision()}; "
          f"{time.monotonic() - began:.0f} s on {machine()}")  # fmt: skip


def _cell(found: Share | None, *, marked: bool) -> str:
    if found is None:
        return "-"
    return f"{found.explained:.2f} ({found.low:.2f} to {found.high:.2f}){'*' if marked else ''}"


if __name__ == "__main__":
    main()
