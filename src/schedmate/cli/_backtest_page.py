"""The page of `schedmate backtest --html`, in the look of the simulation's report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.cli._backtest_words import PREDICTORS, headline
from schedmate.design import marks, scale
from schedmate.design.document import document
from schedmate.design.frame import Frame, room_for
from schedmate.design.words import share, text
from schedmate.model import BadInput
from schedmate.simulator.report.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from schedmate.service.usecases.backtest import Backtest, Group
    from schedmate.service.usecases.backtest_scores import Scores

_FIGURES = ("median error", "within 2x", "covered", "pinball loss", "explained")
_TITLES = {
    "user": "By user",
    "partition": "By partition",
    "basis": "By what the prediction rests on",
}
_DRAWN = 20
_ROOM = 1.08
"""Beyond all of them there is room for a label."""
_READING = (
    "Median error: half of the predictions were off by less than this factor. Covered: the share "
    "of runs that took between p10 and p90; 80% is right. Pinball loss: of p10, p50 and p90 "
    "together, on the logarithm of seconds; less is better. Explained: the share of the variance "
    "of that logarithm, below 0 where the mean is closer. Known: where a predictor knew nothing "
    "of a run, the median of all runs stands. One constant is the best in hindsight. Controls get "
    "their range from their own last errors. The interval of the difference draws users' days, "
    "since runs of one day resemble each other. What is read of a job's code is what the store "
    "kept when it ran."
)


def write_page(path: Path, found: Backtest) -> None:
    try:
        path.write_text(page(found), encoding="utf-8")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadInput(f"cannot write the page to {path}: {why}; name another file") from error


def page(found: Backtest) -> str:
    first, second = headline(found).split("\n")
    rows = [[_cell(PREDICTORS[name]), *_scores(each)] for name, each in found.predictors.items()]
    parts = [
        f"<p>{text(first)}</p><p>{text(second)}</p>",
        '<section class="card wide">' + table(("predictor", "runs", "known", *_FIGURES), rows),
        "<figure>" + _within(found.predictors) + "<figcaption>Share of the runs that were "
        "predicted between half and twice of what they took. Every predictor sees the same past: "
        "the runs that had ended before the submission.</figcaption></figure></section>",
        *(_section(_TITLES[by], groups) for by, groups in found.groups.items()),
        f"<h2>How to read this</h2><p>{text(_READING)}</p>",
    ]
    return document(
        "What predictions would have been worth",
        "A replay of this site's own runs, in the order in which they were submitted.",
        "".join(parts),
        command="schedmate backtest",
    )


def _section(title: str, groups: Sequence[Group]) -> str:
    headings = (title.removeprefix("By ").removeprefix("what the "), "runs", "known", *_FIGURES)
    rows = [
        [
            _cell(each.name or "-"),
            *_scores(each.schedmate),
            _cell(PREDICTORS[each.best_control]),
            _cell(share(each.control.within_2x)),
            _cell(f"{each.control.pinball:.3f}"),
        ]
        for each in groups
    ]
    controls = ("best control here", "its within 2x", "its pinball loss")
    shown = table((*headings, *controls), rows)
    return f'<section class="card wide"><h2>{text(title)}</h2>{shown}</section>'


def _within(of: dict[str, Scores]) -> str:
    labels = [PREDICTORS[name] for name in of][:_DRAWN]
    frame = Frame(
        x=scale.shares(_ROOM),
        y=scale.rows(labels),
        x_title="within a factor of two",
        y_title="",
        height=marks.rows_height(len(labels)),
        left=room_for(labels),
    )
    bars = [
        marks.bar(frame, row=row, value=each.within_2x, number=row > 1, label=share(each.within_2x))
        for row, each in enumerate(of.values())
    ]
    return frame.drawn("", "".join(bars), rows=True, title="Predicted within a factor of two")


def _scores(each: Scores) -> list[str]:
    return [
        _cell(f"{each.runs:,}"),
        _cell(share(each.predicted)),
        _cell(f"{each.median_error:.2f}x"),
        _cell(share(each.within_2x)),
        _cell(share(each.covered)),
        _cell(f"{each.pinball:.3f}"),
        _cell("-" if each.explained is None else f"{each.explained:.2f}"),
    ]


def _cell(words: str) -> str:
    return f"<td>{text(words)}</td>"
