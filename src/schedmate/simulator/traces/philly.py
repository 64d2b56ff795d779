"""Philly (Microsoft, ATC'19): the original `cluster_job_log`, one JSON list of jobs.

A job has several attempts where the platform tried it again. Its duration is the sum of all of
them: for so long it held GPUs, and a trace with only the last would lack that work. The time
between two attempts is waiting and not counted. Its GPUs are those of its largest attempt.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schedmate.model import BadInput
from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import Trace, TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut, Rows, gather
from schedmate.simulator.traces.opening import head_lines, opened

_MARKS = ('"attempts"', '"jobid"', '"vc"')


class PhillyJson:
    name = "Philly JSON"

    def sniff(self, path: Path) -> bool:
        head = "\n".join(head_lines(path)).lstrip()
        return head.startswith("[") and all(mark in head for mark in _MARKS)

    def read(self, path: Path) -> Trace:
        with opened(path) as file:
            text = file.read()
        try:
            return gather(path.name, _objects(text), _job_of)
        except json.JSONDecodeError as error:
            raise BadInput(
                f"{path} is broken JSON from line {error.lineno} on; fetch it again"
            ) from error


def _objects(text: str) -> Rows:
    """One after the other, so that only the text is in memory as a whole."""
    decode = json.JSONDecoder().raw_decode
    at, line = _past_blanks(text, text.index("[") + 1), 1
    counted = 0
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        found, at = decode(text, at)
        yield line, found if isinstance(found, dict) else "is no job but another kind of JSON"
        at = _past_blanks(text, at)
        if text[at : at + 1] == ",":
            at = _past_blanks(text, at + 1)
        elif text[at : at + 1] != "]":
            raise json.JSONDecodeError("the list goes on without a comma", text, at)


def _past_blanks(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _job_of(job: Row) -> TraceJob | LeftOut:
    attempts = [each for each in _dicts(job, "attempts") if _is_time(each, "start_time")]
    if not attempts:
        return LeftOut.NEVER_RAN
    if not _is_time(attempts[-1], "end_time"):
        return LeftOut.STILL_RUNNING
    largest = max((_dicts(each, "detail") for each in attempts), key=_gpus)
    if not _gpus(largest):
        return LeftOut.NO_GPU
    return TraceJob(
        job_id=cells.text(job, "jobid"),
        user=cells.text(job, "user"),
        submit_time=cells.time(job, "submitted_time"),
        duration=sum(_ran(each) for each in attempts),
        gpus=_gpus(largest),
        status=cells.philly_state(job, "status"),
        group=cells.text(job, "vc") or None,
        nodes=len(largest),
        start_time=cells.time(attempts[0], "start_time"),
    )


def _dicts(row: Row, key: str) -> list[dict[str, Any]]:
    found = row.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _gpus(detail: list[dict[str, Any]]) -> int:
    return sum(len(each["gpus"]) for each in detail if isinstance(each.get("gpus"), list))


def _is_time(row: Row, key: str) -> bool:
    return cells.given(row, key) and row[key] != "None"


def _ran(attempt: Row) -> float:
    """An attempt in the middle whose end was not logged counts for nothing."""
    if not _is_time(attempt, "end_time"):
        return 0.0
    return cells.time(attempt, "end_time") - cells.time(attempt, "start_time")
