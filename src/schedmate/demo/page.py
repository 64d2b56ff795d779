"""The demo as a page to look at: who ran when, as predicted and as it was."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from schedmate.demo.summary import predicted_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.demo.show import Record
    from schedmate.model import Job

_WIDTH, _LABEL, _ROW = 1000, 130, 26
_COLOURS = {"COMPLETED": "#2f9e64", "CANCELLED": "#d08b1d", "RUNNING": "#3b82c4"}
_FAILED = "#c0392b"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1040px; margin: 2rem auto; color: #222 }
table { border-collapse: collapse } td, th { padding: .2rem 1.2rem .2rem 0; text-align: left }
svg text { font: 12px system-ui, sans-serif; fill: #333 } .wait { fill: #ddd }
.expected { fill: none; stroke: #222; stroke-dasharray: 3 2 }
"""


def page(records: Sequence[Record], figures: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in figures)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>SchedMate demo</title>"
        f"<style>{_STYLE}</style><h1>SchedMate demo</h1><table>{rows}</table>"
        "<h2>Who ran when</h2><p>Grey: waiting. Dashed: as predicted at submission. Colour: as it"
        f" was (green ended well, red failed, orange stopped).</p>{_chart(records)}</html>"
    )


def _chart(records: Sequence[Record]) -> str:
    begin = min(record.runs[max(record.runs)].submit_time for record in records)
    end = max(run.end_time or begin for record in records for run in record.runs.values())
    scale = (_WIDTH - _LABEL) / max(end - begin, 1e-9)
    shapes = "".join(
        shape
        for number, record in enumerate(records)
        for shape in _row(record, number * _ROW, begin, scale)
    )
    height = len(records) * _ROW
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{shapes}</svg>'


def _row(record: Record, top: int, begin: float, scale: float) -> Iterator[str]:
    def bar(start: float, stop: float, look: str, title: str) -> str:
        x, width = _LABEL + (start - begin) * scale, max(1.0, (stop - start) * scale)
        return (
            f'<rect x="{x:.1f}" y="{top + 4}" width="{width:.1f}" height="{_ROW - 8}" {look}>'
            f"<title>{escape(title)}</title></rect>"
        )

    yield f'<text x="0" y="{top + 17}">{escape(record.part.name)}</text>'
    runs = sorted(record.runs.values(), key=lambda run: run.restarts)
    waited_from = runs[0].submit_time
    for run in runs:
        if run.start_time is None or run.end_time is None:
            continue
        yield bar(waited_from, run.start_time, 'class="wait"', "waiting")
        yield bar(run.start_time, run.end_time, f'fill="{_colour(run)}"', _title(record, run))
        waited_from = run.end_time
    expected, first = predicted_s(record), runs[0].start_time
    if expected is not None and first is not None:
        yield bar(first, first + expected, 'class="expected"', f"predicted {expected:.1f} s")


def _colour(run: Job) -> str:
    return _COLOURS.get(run.state.value, _FAILED)


def _title(record: Record, run: Job) -> str:
    diagnosis = None if record.view is None else record.view.diagnoses.get(run.restarts)
    why = "" if diagnosis is None else f": {diagnosis.reason}: {diagnosis.summary}"
    return f"{run.state} after {run.run_time_s or 0:.1f} s{why}"
