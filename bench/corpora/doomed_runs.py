"""Logs of runs in time: labelled ones that go on for nothing or only look like it, and others.

A table of `doomed/*.toml` is a run: `doomed` is the reason (`nan`, `checkpoint`, `limit`) or empty,
`every_s` the seconds from line to line, `limit_s` its time limit. Its parts are written one after
the other: `line` or `lines`, `times`, counted `from` a number `by` another. `{n}` is the count,
`{e}` and `{i}` the epoch and the step in it where `per` is the number of steps; `{v}`, `{w}` and
`{x}` go from one number to another. `sign` marks the part from which on it is known. In place of
parts, `log` names the log of a real run, and `sign` what stands in the first line that shows it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.corpora.failure_cases import OWN, REPORTS, read_cases
from bench.corpora.failure_logs import finished_runs, labelled_failures
from bench.corpora.framework_runs.recording import recordings
from bench.corpora.timed_logs import timed_logs
from bench.corpora.training_logs import step_logs
from bench.datasets import data_dir

LABELLED = Path(__file__).parent / "doomed"
FIRST_SIGHT = Path(__file__).parent / "doomed_first_sight"
"""Labelled before anything was read or run; rules were mended by it since."""
UNSEEN = Path(__file__).parent / "doomed_unseen"
"""The same, after that; read once, and not used since."""
_EVERY_S = 10.0
_LIMITS = (0.5, 0.8, 0.95, 1.02, 1.1, 1.5)
"""Times how long a run took."""
_LEAST_S = 20.0
_EVERY_NTH = 12
_AT_CHECKPOINT = ("disk_full", "disk_quota", "permission_denied", "storage_io")


@dataclass(frozen=True, slots=True, kw_only=True)
class DoomedRun:
    """`lines` with the seconds after which each was written."""

    name: str
    lines: Sequence[tuple[float, bytes]]
    doomed: frozenset[str]
    """The reasons that are right; none: it is well, recovers or fails of something else."""
    sign_s: float | None = None
    """From when on it is known."""
    limit_s: float | None = None

    @property
    def ends_s(self) -> float:
        return self.lines[-1][0] if self.lines else 0.0


def labelled_runs(place: Path = LABELLED) -> Iterator[DoomedRun]:
    for path in sorted(place.glob("*.toml")):
        for name, stated in tomllib.loads(path.read_text()).items():
            if not path.stem.endswith("programs"):
                yield _labelled(f"{path.stem}/{name}", stated, place)


def failed_runs() -> Iterator[DoomedRun]:
    """The corpus of failures and of healthy runs with alarming words, and the public reports."""
    for case in read_cases(OWN, REPORTS):
        reasons = {case.label.reason, *case.label.accept}
        doomed = {"nan"} if "loss_nan" in reasons else set()
        doomed |= {"checkpoint"} if reasons.intersection(_AT_CHECKPOINT) else set()
        yield _untimed(case.name, case.text().encode(), frozenset(doomed))


def public_runs() -> Iterator[DoomedRun]:
    """Those that the data sets hold, where they are at hand."""
    for name, data, reason in finished_runs():
        yield _untimed(name, data, frozenset({"limit"} if reason == "time_limit" else ()))
    for number, (_, text, reasons) in enumerate(labelled_failures()):
        doomed = frozenset({"nan"} if "loss_nan" in reasons else ())
        yield _untimed(f"gpualert-{number}", text.encode(), doomed)


def trained_runs() -> Iterator[DoomedRun]:
    """Runs of real frameworks and of home-made loops: all are well."""
    for recorded in recordings():
        lines = [(at, recorded.text[:end]) for at, end in recorded.pieces]
        starts = [0, *(len(text) for _, text in lines[:-1])]
        pieces = [(at, text[start:]) for (at, text), start in zip(lines, starts, strict=True)]
        whole = [(at, line) for at, piece in pieces for line in piece.splitlines()]
        yield DoomedRun(name=recorded.name, lines=whole, doomed=frozenset())
    for log in timed_logs():
        timed = [(at, text.encode()) for at, text in log.lines]
        yield DoomedRun(name=log.name, lines=timed, doomed=frozenset())


def limited_runs() -> Iterator[DoomedRun]:
    """The same and runs of modded-nanogpt with their own times, each with limits that it would
    have missed or made; what the limit cuts off is not written."""
    for run in (*trained_runs(), *_step_runs()):
        if run.ends_s < _LEAST_S:
            continue
        for share in _LIMITS:
            limit_s = share * run.ends_s
            late = share < 1
            yield DoomedRun(
                name=f"{run.name} at {share:g}",
                lines=[(at, line) for at, line in run.lines if at <= limit_s],
                doomed=frozenset({"limit"} if late else ()),
                sign_s=0.0 if late else None,
                limit_s=limit_s,
            )


def _step_runs() -> Iterator[DoomedRun]:
    logs = data_dir() / "logs"
    for log in step_logs(logs)[::_EVERY_NTH] if logs.is_dir() else ():
        lines, begin = [], log.timed[0].offset
        for each in log.timed[1:]:
            lines.append((each.at, log.text[begin : each.offset].rstrip(b"\n")))
            begin = each.offset
        yield DoomedRun(name=log.name, lines=lines, doomed=frozenset())


def _labelled(name: str, stated: dict[str, Any], place: Path) -> DoomedRun:
    lines: list[tuple[float, bytes]] = []
    at, sign_s = 0.0, None
    for line in _logged(stated, place):
        at += stated.get("every_s", _EVERY_S)
        lines.append((at, line))
        if sign_s is None and stated.get("sign", "\n").encode() in line:
            sign_s = at
    for part in stated.get("part", ()):
        if part.get("sign"):
            sign_s = at
        for text in _written(part):
            at += part.get("every_s", stated.get("every_s", _EVERY_S))
            lines.append((at, text.encode()))
    doomed = frozenset([stated["doomed"]] if stated["doomed"] else ())
    return DoomedRun(
        name=name, lines=lines, doomed=doomed, sign_s=sign_s, limit_s=stated.get("limit_s")
    )


def _logged(stated: dict[str, Any], place: Path) -> list[bytes]:
    """The lines of a real log, each state of a bar among them."""
    if "log" not in stated:
        return []
    whole = (place / stated["log"]).read_bytes()
    return [line for line in whole.replace(b"\r", b"\n").split(b"\n") if line.strip()]


def _written(part: dict[str, Any]) -> Iterator[str]:
    times, per = part.get("times", 1), part.get("per", 0)
    for turn in range(times):
        count = part.get("from", 0) + turn * part.get("by", 1)
        share = turn / max(1, times - 1)
        values = {
            name: part[name][0] + share * (part[name][1] - part[name][0]) * (1 + 0.01 * (turn % 3))
            for name in "vwx"
            if name in part
        }
        if per:
            values |= {"e": count // per, "i": count % per}
        for line in part.get("lines") or [part["line"]]:
            yield line.format(n=count, **values)


def _untimed(name: str, data: bytes, doomed: frozenset[str]) -> DoomedRun:
    lines = data.splitlines()
    return DoomedRun(
        name=name,
        lines=[(_EVERY_S * (number + 1), line) for number, line in enumerate(lines)],
        doomed=doomed,
    )
