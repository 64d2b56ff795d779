"""The demo as a page to look at: who ran when, as predicted and as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.demo.summary import predicted_s
from schedmate.design import marks, scale
from schedmate.design.document import document
from schedmate.design.frame import Frame, room_for
from schedmate.design.words import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.demo.show import Record
    from schedmate.model import Job

_LOOKS = {"COMPLETED": "completed", "CANCELLED": "cancelled", "RUNNING": "running"}


def page(records: Sequence[Record], figures: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in figures)
    body = (
        f'<section class="card wide"><dl>{rows}</dl></section>'
        f'<section class="card wide"><h3>Who ran when</h3><figure>{_chart(records)}'
        "<figcaption>Grey: waiting. Dashed: as predicted at submission. Colour: as it was (green "
        "ended well, red failed, orange was stopped).</figcaption></figure></section>"
    )
    return document(
        "SchedMate demo",
        "Small training jobs that really ran on this machine.",
        body,
        command="schedmate demo",
    )


def _chart(records: Sequence[Record]) -> str:
    records = [record for record in records if record.runs]
    if not records:
        return "<p>No job has ended.</p>"
    begin = min(record.runs[max(record.runs)].submit_time for record in records)
    end = max(run.end_time or begin for record in records for run in record.runs.values())
    names = [record.part.name for record in records]
    frame = Frame(
        x=scale.linear_times(max(end - begin, 1e-9)),
        y=scale.rows(names),
        x_title="time since the first submission",
        height=marks.rows_height(len(names)),
        left=room_for(names),
    )
    bars = (bar for row, record in enumerate(records) for bar in _row(frame, record, row, begin))
    return frame.drawn("", "".join(bars), title="Who ran when", rows=True)


def _row(frame: Frame, record: Record, row: int, begin: float) -> Iterator[str]:
    def bar(start: float, stop: float, look: str, what: str) -> str:
        return marks.period(
            frame, row=row, span=(start - begin, stop - begin), look=look, what=what
        )

    runs = sorted(record.runs.values(), key=lambda run: run.restarts)
    waited_from = runs[0].submit_time
    for run in runs:
        if run.start_time is None or run.end_time is None:
            continue
        yield bar(waited_from, run.start_time, "waiting", "waiting")
        look = _LOOKS.get(run.state.value, "failed")
        yield bar(run.start_time, run.end_time, look, _title(record, run))
        waited_from = run.end_time
    expected, first = predicted_s(record), runs[0].start_time
    if expected is not None and first is not None:
        yield bar(first, first + expected, "expected", f"predicted {expected:.1f} s")


def _title(record: Record, run: Job) -> str:
    diagnosis = None if record.view is None else record.view.diagnoses.get(run.restarts)
    why = "" if diagnosis is None else f": {diagnosis.reason}: {diagnosis.summary}"
    return f"{run.state} after {run.run_time_s or 0:.1f} s{why}"
