"""How well durations are predicted from workload records, on public training runs.

    python -m bench.accuracy.workload_durations                  # every setting below
    python -m bench.accuracy.workload_durations --only new-chip  # one of them
    python -m bench.accuracy.workload_durations --ablation       # what each part of a record adds

Every run is kept in a store and predicted as a job would be that is submitted now; what a setting
leaves out is hidden from the search. MLPerf: one answer for each cell (a system on a benchmark, the
same configuration with several seeds), compared with the median of the cell; the p90 with each of
its runs.

leave-org: without all runs of the organisation.
no-twins: and without runs of the model on as many accelerators of the same chip.
new-chip: without all runs on the chip (h100, a100, l40s, ...), of any organisation.
new-generation: without all runs on chips of its generation (Hopper, Ada, ...); else as it stands.
older: from what was submitted before the first run on its generation; `by the past alone` is
calibrated by a rehearsal of that past.
renamed: leave-org, and the job calls its model and itself by an unused name.
renamed-no-data: and its data set, too.
rolling: from what had ended when it began; organisations are users, so own jobs count.
own-new-name: rolling, for organisations with runs of their own; the job's name is not used before.

`explained` is the share of the variance of log run times that is explained, over all runs.

nanogpt: from runs of earlier records of other code. nanogpt-rolling: from all earlier runs.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.accuracy.workload_baselines import BASELINES, OF_USER, STEP_TIMES, Baseline, Past
from bench.command import command_line
from bench.corpora.training_runs import mlperf_runs, nanogpt_runs
from bench.datasets import required
from schedmate.advisor import Target
from schedmate.advisor.knowledge.accelerators import accelerator
from schedmate.advisor.predict.calibration import Calibration
from schedmate.advisor.predict.durations import estimate_duration
from schedmate.advisor.predict.runs import Columns, columns_of, rows_of
from schedmate.model import Finding, PastRun, Spread, Workload
from schedmate.model.sketch import ROW, sketch_of_run
from schedmate.store.sqlite import SqliteStore

_GENERATIONS = {"h100": "hopper", "h200": "hopper", "h800": "hopper", "gh200": "hopper"}
_GENERATIONS |= {"l4": "ada", "l40": "ada", "l40s": "ada", "rtx 4090": "ada", "6000 ada": "ada"}
_GENERATIONS |= {"a100": "ampere", "a800": "ampere", "a30": "ampere", "rtx 3090": "ampere"}
_GENERATIONS |= {"b200": "blackwell", "gb200": "blackwell", "b300": "blackwell"}


@dataclass
class Known:
    """A store's runs, of which some may be hidden."""

    store: SqliteStore
    runs: dict[str, PastRun]
    numbers: dict[str, int] = field(default_factory=dict)
    typical: dict[str, PastRun] = field(default_factory=dict)
    dated: dict[str, tuple[str, PastRun]] = field(default_factory=dict)
    everything: Columns | None = None

    @classmethod
    def of(cls, store: SqliteStore, runs: Sequence[PastRun]) -> Known:
        store.keep_runs(runs)
        known = cls(store, {run.job.id: run for run in runs})
        known.everything = columns_of(rows_of(store.newest_sketches(len(runs))))
        numbers = known.everything.rows["run"].tolist()
        for number, run in zip(numbers, store.runs_numbered(numbers), strict=True):
            known.numbers[run.job.id] = number
        return known

    def keep(self, date: str, run: PastRun) -> None:
        """One more, which is all the typical ones are."""
        self.store.keep_run(run)
        number = rows_of(self.store.newest_sketches(1))["run"][0]
        self.numbers[run.job.id] = int(number)
        self.typical[run.job.id] = run
        self.dated[run.job.id] = (date, run)

    def without(self, hidden: Iterable[str]) -> Hidden:
        return Hidden(self, {self.numbers[each] for each in hidden})


@dataclass
class Hidden:
    """Fulfils `History` as far as predictions ask it, without some runs."""

    known: Known
    hidden: set[int]
    rehearsal: Calibration | None = None
    """What the runs that are left teach of how far off predictions are."""

    def recent_runs(self, *, user: str | None = None, limit: int = 1000) -> list[PastRun]:
        assert user is None
        names = {number: name for name, number in self.known.numbers.items()}
        left = [self.known.runs[names[each]] for each in names.keys() - self.hidden]
        return sorted(left, key=lambda run: -(run.job.end_time or 0.0))[:limit]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.known.store, name)

    def sketches(self, keys: Sequence[int], *, limit: int = 300) -> bytes:
        return self._seen(self.known.store.sketches(keys, limit=limit + len(self.hidden)))

    def repeats(self, numbers: Sequence[int], *, limit: int) -> bytes:
        return self._seen(self.known.store.repeats(numbers, limit=limit))

    def newest_sketches(self, limit: int) -> bytes:
        return self._seen(self.known.store.newest_sketches(limit))

    def _seen(self, rows: bytes) -> bytes:
        parts = (rows[at : at + ROW.size] for at in range(0, len(rows), ROW.size))
        return b"".join(
            part for part in parts if int.from_bytes(part[:8], "little") not in self.hidden
        )

    @cached_property
    def past(self) -> Past:
        """For baselines: one run of each cell, as long as the cell's median."""
        seen = [key for key in self.known.typical if self.known.numbers[key] not in self.hidden]
        return Past([self.known.typical[key] for key in seen])


@dataclass
class Score:
    """Errors of one answer for each case, and where each of its runs fell."""

    errors: list[float] = field(default_factory=list)
    twice: list[bool] = field(default_factory=list)
    above: list[bool] = field(default_factory=list)
    below: list[bool] = field(default_factory=list)
    unanswered: int = 0
    logs: list[tuple[float, float]] = field(default_factory=list)
    """Of each run, predicted and real."""
    bases: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(
        self, p50: float | None, spread: Spread | None, real: float, runs: Sequence[float]
    ) -> None:
        if p50 is None:
            self.unanswered += 1
            return
        self.errors.append(abs(p50 / real - 1))
        self.twice.append(max(p50 / real, real / p50) <= _TWICE)
        self.logs += [(math.log(p50), math.log(each)) for each in runs]
        if spread is not None:
            self.above += [each > spread.p90 for each in runs]
            self.below += [each < spread.p10 for each in runs]

    @property
    def explained(self) -> float:
        """Of the variance of log run times; below 0 where a constant would do better."""
        predicted, real = np.array(self.logs).T
        return float(1 - np.mean((real - predicted) ** 2) / real.var())

    def line(self, name: str) -> str:
        if not self.errors:
            return f"  {name:34s} no answer"
        twice = np.mean(self.twice)
        covered = "      -        -"
        if self.above:
            within = 1 - np.mean(self.above) - np.mean(self.below)
            covered = f"{1 - np.mean(self.above):7.1%}{within:9.1%}"
        rest = f"   {self.unanswered} not answered" if self.unanswered else ""
        shown = f"{median(self.errors):8.1%}{twice:9.1%} {covered}{self.explained:11.2f}"
        return f"  {name:34s}{shown}  {len(self.errors)}{rest}"


def target_of(run: PastRun, **changes: object) -> Target:
    job = run.job
    target = Target(
        workdir=Path("/"),
        command=("x",),
        request=job.request,
        user=job.user,
        name=job.name,
        submitted_at=None,
    )
    return replace(target, **changes)  # type: ignore[arg-type]


def chip(run: PastRun) -> str:
    known = accelerator(run.job.request.gpu_type or "")
    return " ".join(word for word in known.name.split() if word not in _BOARDS) if known else "?"


_BOARDS = {"pcie", "sxm", "nvl", "80gb", "32gb"}


def generation(run: PastRun) -> str:
    return _GENERATIONS.get(chip(run), chip(run))


def model_of(run: PastRun) -> str:
    return run.workload.model.value if run.workload.model else ""


_TWICE = 2.0
_ROLLING = ("rolling", "own-new-name")
_REHEARSED = 300
Leave = Callable[[PastRun, PastRun], bool]
"""Of a run that is asked for and one that is known: is it to be hidden?"""


def _same_org(asked: PastRun, known: PastRun) -> bool:
    return asked.job.user == known.job.user


def _twin(asked: PastRun, known: PastRun) -> bool:
    return (
        model_of(asked) == model_of(known)
        and asked.job.request.gpus == known.job.request.gpus
        and chip(asked) == chip(known)
    )


def _not_older(asked: PastRun, known: PastRun) -> bool:
    return known.job.submit_time >= _FIRST.get(generation(asked), 0.0)


_FIRST: dict[str, float] = {}
"""When the first run of each generation of chips was submitted."""


SETTINGS: dict[str, tuple[Leave, Leave | None]] = {
    "leave-org": (_same_org, None),
    "no-twins": (_same_org, _twin),
    "new-chip": (lambda asked, known: chip(asked) == chip(known), None),
    "new-generation": (lambda asked, known: generation(asked) == generation(known), None),
    "older": (_not_older, None),
    "renamed": (_same_org, None),
    "renamed-no-data": (_same_org, None),
}
"""What is hidden of all, and what is hidden of one case more."""


def _disguised(run: PastRun, setting: str) -> PastRun:
    """Under names that no run has used."""
    if setting == "own-new-name":
        return replace(run, job=replace(run.job, name="a-new-name"))
    if not setting.startswith("renamed"):
        return run
    other: dict[str, Any] = {"model": Finding(value="net", source="code")}
    if setting == "renamed-no-data":
        other |= {"dataset": Finding(value="ours", source="code")}
    return replace(
        run,
        workload=replace(run.workload, **other),
        job=replace(run.job, name="a-new-name"),
    )


View = Callable[[PastRun], PastRun]


def _reduced(run: PastRun, *kept: str) -> PastRun:
    """With no more of its record than this."""
    stated = {name: getattr(run.workload, name) for name in (*kept, "early_stopping")}
    return replace(run, workload=Workload(**stated))


_WORDS = ("model", "dataset", "task", "framework", "optimizer")
_NUMBERS = ("batch_size", "learning_rate", "max_steps", "nodes", "gpus")
VIEWS: dict[str, View] = {
    "all": lambda run: run,
    "without the accelerator's name": lambda run: replace(
        run, job=replace(run.job, request=replace(run.job.request, gpu_type=None))
    ),
    "without batch, rate and steps": lambda run: _reduced(run, *_WORDS, "nodes", "gpus"),
    "without the job's name": lambda run: replace(run, job=replace(run.job, name="job")),
    "without framework and optimizer": lambda run: _reduced(run, *_WORDS[:3], *_NUMBERS),
    "without model, data and task": lambda run: _reduced(run, *_WORDS[3:], *_NUMBERS),
    "job's name and GPUs alone": lambda run: _reduced(run, "gpus", "nodes"),
}
"""What is known of the runs, past and asked for: each part has to earn its place."""


def ablation(path: Path, settings: Sequence[str], by_code: Path | None) -> None:
    if by_code is not None:
        print("== with the hash of the code, then without")
        runs = nanogpt_runs(by_code)
        unsaid = [(date, replace(run, fingerprint=None)) for date, run in runs]
        for dated in (runs, unsaid):
            with tempfile.TemporaryDirectory() as folder:
                known = Known(SqliteStore(Path(folder) / "store.db"), {})
                _nanogpt_setting(known, dated, "nanogpt-rolling")
                known.store.close()
    for name, view in VIEWS.items():
        print(f"\n== {name}")
        mlperf(path, settings, view, baselines={})


def mlperf(
    path: Path,
    settings: Sequence[str],
    view: View = VIEWS["all"],
    *,
    baselines: dict[str, Baseline] = BASELINES,
) -> None:
    cells: dict[tuple[str, ...], list[PastRun]] = defaultdict(list)
    for cell, run in mlperf_runs(path):
        cells[cell].append(view(run))
    runs = [run for cell in cells.values() for run in cell]
    print(f"{path.name}: {len(runs)} runs in {len(cells)} cells")
    with tempfile.TemporaryDirectory() as folder:
        known = Known.of(SqliteStore(Path(folder) / "store.db"), runs)
        known.typical = {cell[0].job.id: _typical(cell) for cell in cells.values()}
        for run in sorted(runs, key=lambda run: -run.job.submit_time):
            _FIRST[generation(run)] = run.job.submit_time
        for setting in settings:
            _mlperf_setting(known, cells, setting, baselines)
        known.store.close()


def _typical(cell: list[PastRun]) -> PastRun:
    job = cell[0].job
    ended = job.submit_time + median(run.duration_s for run in cell)
    return replace(cell[0], job=replace(job, end_time=ended))


def _mlperf_setting(
    known: Known,
    cells: dict[tuple[str, ...], list[PastRun]],
    setting: str,
    baselines: dict[str, Baseline],
) -> None:
    leave, more = SETTINGS[setting]
    scores: dict[str, Score] = defaultdict(Score)
    calibration, began = Calibration(), time.process_time()
    groups: dict[frozenset[str], list[list[PastRun]]] = defaultdict(list)
    for cell in sorted(cells.values(), key=lambda cell: cell[0].job.submit_time):
        hidden = frozenset(key for key, run in known.runs.items() if leave(cell[0], run))
        groups[hidden].append(cell)
    for hidden, asked in groups.items():
        history = known.without(hidden)
        if setting == "older":
            history.rehearsal = _rehearsed(history)
        for cell in asked:
            seen = history
            if more is not None:
                twins = {key for key, run in known.runs.items() if more(cell[0], run)}
                seen = known.without(hidden | twins)
            _ask(scores, seen, calibration, cell, setting, baselines)
    _print(setting, scores, time.process_time() - began)


def _rehearsed(history: Hidden) -> Calibration:
    """By the newest runs that are left, each predicted from what had ended before it."""
    calibration = Calibration()
    runs = sorted(history.recent_runs(limit=_REHEARSED), key=lambda run: run.job.submit_time)
    for run in runs:
        estimate = estimate_duration(
            history, sketch_of_run(run), run.workload, submitted_at=run.job.submit_time
        )
        if estimate is not None:
            calibration.observed(estimate.kind, estimate.duration_s, run.duration_s)
    return calibration


def _ask(  # noqa: PLR0917 - everything that one answer takes
    scores: dict[str, Score],
    history: Hidden,
    calibration: Calibration,
    cell: list[PastRun],
    setting: str,
    baselines: dict[str, Baseline] = BASELINES,
) -> None:
    run = _disguised(cell[0], setting)
    durations = [each.duration_s for each in cell]
    real = median(durations)
    estimate = estimate_duration(
        history,
        sketch_of_run(run),
        run.workload,
        submitted_at=None,
        at=run.job.submit_time,
    )
    raw = estimate.duration_s if estimate else None
    scores["ours"].add(raw.p50 if raw else None, raw, real, durations)
    if estimate is not None and raw is not None:
        kind = estimate.kind
        calibrated = calibration.calibrated(kind, raw)
        scores["ours, calibrated"].add(calibrated.p50, calibrated, real, durations)
        if history.rehearsal is not None:
            by_past = history.rehearsal.calibrated(kind, raw)
            scores["ours, by the past alone"].add(by_past.p50, by_past, real, durations)
        for each in durations:
            calibration.observed(kind, raw, each, calibrated=calibrated)
    for name, baseline in baselines.items():
        scores[name].add(baseline(history.past, run), None, real, durations)


def rolling(path: Path, setting: str) -> None:
    """Cell after cell as they began; whatever has ended by then is known, all seeds of it."""
    baselines = BASELINES | OF_USER if setting == "own-new-name" else BASELINES
    users: set[str] = set()
    cells: dict[tuple[str, ...], list[PastRun]] = defaultdict(list)
    for key, run in mlperf_runs(path):
        cells[key].append(run)
    scores: dict[str, Score] = defaultdict(Score)
    began, calibration = time.process_time(), Calibration()
    ordered = sorted(cells.values(), key=lambda cell: cell[0].job.submit_time)
    with tempfile.TemporaryDirectory() as folder:
        known = Known(SqliteStore(Path(folder) / "store.db"), {})
        for cell in ordered:
            history = Hidden(known, set())
            known.numbers = dict.fromkeys(known.typical, 0)
            if setting == "rolling" or cell[0].job.user in users:
                _ask(scores, history, calibration, cell, setting, baselines)
            users.add(cell[0].job.user)
            known.store.keep_runs(cell)
            known.typical[cell[0].job.id] = _typical(cell)
        known.store.close()
    _print(setting, scores, time.process_time() - began)


def nanogpt(path: Path) -> None:
    for setting in ("nanogpt", "nanogpt-rolling"):
        with tempfile.TemporaryDirectory() as folder:
            known = Known(SqliteStore(Path(folder) / "store.db"), {})
            _nanogpt_setting(known, nanogpt_runs(path), setting)
            known.store.close()


def _nanogpt_setting(known: Known, dated: list[tuple[str, PastRun]], setting: str) -> None:
    """Run after run."""
    scores: dict[str, Score] = defaultdict(Score)
    calibration, began = Calibration(), time.process_time()
    for date, run in dated:
        hidden = {
            key
            for key, (when, each) in known.dated.items()
            if setting == "nanogpt" and (when >= date or each.fingerprint == run.fingerprint)
        }
        if len(hidden) < len(known.dated):
            _ask(scores, known.without(hidden), calibration, [run], setting, STEP_TIMES)
        known.keep(date, run)
    _print(setting, scores, time.process_time() - began)


def _print(setting: str, scores: dict[str, Score], seconds: float) -> None:
    columns = f"{'median':>8s}{'within 2x':>11s}{'p90':>7s}{'p10-p90':>9s}{'explained':>11s}"
    print(f"\n{setting:36s}{columns}  ({seconds:.0f} s)")
    for name, score in scores.items():
        print(score.line(name))


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--mlperf", type=Path, help="mlperf_runs.csv.gz, if elsewhere")
    parser.add_argument("--nanogpt", type=Path, help="modded_nanogpt_runs.csv.gz, if elsewhere")
    parser.add_argument("--ablation", action="store_true", help="leave out each part of a record")
    names = [*SETTINGS, *_ROLLING, "nanogpt"]
    parser.add_argument("--only", nargs="*", default=names, choices=names, metavar="SETTING")
    chosen = parser.parse_args()
    table = chosen.mlperf or required("logs") / "mlperf_runs.csv.gz"
    by_code = None
    if "nanogpt" in chosen.only:
        by_code = chosen.nanogpt or required("logs") / "modded_nanogpt_runs.csv.gz"
    wanted = [each for each in chosen.only if each in SETTINGS]
    if chosen.ablation:
        ablation(table, wanted, by_code)
        return
    if wanted:
        mlperf(table, wanted)
    for setting in (each for each in _ROLLING if each in chosen.only):
        rolling(table, setting)
    if by_code is not None:
        nanogpt(by_code)


if __name__ == "__main__":
    main()
