"""The plots of a report, one function each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedmate.simulator.report import marks, scale
from schedmate.simulator.report.digest import Curve, Digest
from schedmate.simulator.report.frame import Frame, room_for
from schedmate.simulator.report.gains import Gains
from schedmate.simulator.report.sensitivity import Sensitivity
from schedmate.simulator.report.words import human_number, human_time, share, text, times

_AXIS = {
    "load": "load: work asked for over what the GPUs can do",
    "error": "error of predicted run times: standard deviation of the logarithm",
    "gpus": "GPUs of the cluster",
    "jobs": "jobs of the trace",
}

_ASIDE = 5.0
"""Between the spreads of two policies at one value."""


def legend(policies: Sequence[str]) -> str:
    """Which line is whose."""
    items = "".join(
        f'<li data-name="{text(policy)}"><svg viewBox="0 0 34 10">'
        f'<path class="line {marks.style_of(number)}" d="M0 5H34"/></svg>{text(policy)}</li>'
        for number, policy in enumerate(policies)
    )
    return f'<ul class="legend">{items}</ul>'


def completion(of: Digest) -> str:
    frame = Frame(
        x=scale.log_times([value for curve in of.completion for value in curve.x]),
        y=scale.shares(),
        x_title="completion time of a job, waiting included",
        y_title="share of the jobs",
    )
    return _stepped(frame, of.completion, title="Completion times", shows="share")


def busy(of: Digest) -> str:
    highest = max(1.0, *(level for curve in of.busy for level in curve.y))
    frame = Frame(
        x=scale.linear_times(of.shown_s),
        y=scale.shares(highest),
        x_title="time since the first submission",
        y_title="GPUs held",
    )
    return _stepped(frame, of.busy, title="GPUs held over time", shows="share")


def queue(of: Digest) -> str:
    frame = Frame(
        x=scale.linear_times(of.shown_s),
        y=scale.counts(max(level for curve in of.queue for level in curve.y)),
        x_title="time since the first submission",
        y_title="jobs that wait",
    )
    return _stepped(frame, of.queue, title="Jobs that wait over time", shows="number")


def _stepped(frame: Frame, curves: Sequence[Curve], *, title: str, shows: str) -> str:
    lines = "".join(
        marks.steps(frame, curve.x, curve.y, number=number, name=curve.policy)
        for number, curve in enumerate(curves)
    )
    return frame.drawn(lines, title=title, extra=marks.hover_data(frame, curves, shows=shows))


def waits(of: Digest) -> str:
    labels = [label for label, _ in of.sizes]
    frame = Frame(
        x=scale.places(labels),
        y=scale.log_times([wait for each in of.waits for wait in each.mean_s]),
        x_title="what the job asked for",
        y_title="average wait",
    )
    places = [float(place) for place in range(len(labels))]
    curves = [Curve(each.policy, tuple(places), each.mean_s) for each in of.waits]
    lines = "".join(
        marks.joined(frame, curve.x, curve.y, number=number, name=curve.policy)
        for number, curve in enumerate(curves)
    )
    extra = marks.hover_data(frame, curves, shows="time", near=True, labels=labels)
    return frame.drawn(lines, title="Average wait by size of the job", extra=extra)


def who_gains(gains: Gains) -> str:
    labels = [f"{row.label} ({human_number(row.jobs)})" for row in gains.rows]
    frame = Frame(
        x=scale.log_ratios([row.ratio for row in gains.rows]),
        y=scale.rows(labels),
        x_title=f"average completion time of {gains.before} over that of {gains.after}",
        y_title="",
        height=marks.rows_height(len(labels)),
        left=room_for(labels),
    )
    one = f'<path class="one" d="M{frame.across(1)} {frame.top}V{frame.bottom}"/>'
    dots = "".join(
        marks.lollipop(
            frame,
            row=number,
            value=row.ratio,
            label=times(row.ratio),
            what=f"{row.label}: {row.jobs} jobs, {share(row.slower)} of them slower",
        )
        for number, row in enumerate(gains.rows)
    )
    return frame.drawn(one + dots, title=f"{gains.after} instead of {gains.before}")


def controls(of: Digest, name: str) -> str:
    """One policy alone, and with SchedMate by each predictor."""
    base = of.compared.unaided(name)
    found = of.compared.controls[name]
    average = {base: of.compared.policies[base].avg_jct_s}
    average |= {predictor: each.avg_jct_s for predictor, each in found.items()}
    return _averages(average, title=f"{name} by other predictors", numbers=[0] * len(average))


def ablation(of: Digest, names: Sequence[str]) -> str:
    """One policy alone and with each part beside it."""
    average = {name: of.compared.policies[name].avg_jct_s for name in names}
    order = list(of.compared.policies)
    numbers = [order.index(name) for name in names]
    return _averages(average, title=f"{names[0]} and the parts beside it", numbers=numbers)


def _averages(average: Mapping[str, float], *, title: str, numbers: Sequence[int]) -> str:
    """Bars of average completion times, each against the first."""
    names = list(average)
    alone = average[names[0]]
    frame = Frame(
        x=scale.linear_times(1.25 * max(*average.values(), 1.0)),
        y=scale.rows(names),
        x_title="average completion time",
        y_title="",
        height=marks.rows_height(len(names)),
        left=room_for(names),
    )
    bars = "".join(
        marks.bar(
            frame,
            row=row,
            value=average[name],
            number=numbers[row],
            label=f"{human_time(average[name])}, {times(alone / (average[name] or 1))}",
        )
        for row, name in enumerate(names)
    )
    return frame.drawn(bars, title=title)


def sensitivity(of: Sensitivity, policies: Sequence[str]) -> str:
    values = [each for spread in of.spreads for each in (*spread.least, *spread.most)]
    frame = Frame(
        x=scale.plain(of.spreads[0].x),
        y=scale.log_ratios(values),
        x_title=_AXIS.get(of.varied, of.varied),
        y_title=f"times better than {of.first}",
    )
    order = list(policies)
    lines = []
    for place, each in enumerate(of.spreads):
        number, aside = order.index(each.policy), _ASIDE * (place - (len(of.spreads) - 1) / 2)
        lines += [
            marks.whiskers(frame, each.x, each.least, each.most, number=number, aside=aside),
            marks.joined(frame, each.x, each.mean, number=number, name=each.policy, aside=aside),
        ]
    curves = [Curve(each.policy, each.x, each.mean) for each in of.spreads]
    extra = marks.hover_data(frame, curves, shows="ratio", along="number", near=True)
    return frame.drawn("".join(lines), title=f"{of.trace}: what {of.varied} changes", extra=extra)
