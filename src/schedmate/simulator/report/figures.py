"""The plots of a report, one function each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedmate.design import marks, scale
from schedmate.design.frame import SIZE, Frame, room_for
from schedmate.design.words import human_number, human_time, share, times
from schedmate.simulator.report.digest import Curve, Digest
from schedmate.simulator.report.gains import Gains
from schedmate.simulator.report.sensitivity import Sensitivity

_AXIS = {
    "load": "load: work asked for over what the GPUs can do",
    "error": "error of predicted run times: standard deviation of the logarithm",
    "gpus": "GPUs of the cluster",
    "jobs": "jobs of the trace",
}

_ASIDE = 5.0
"""Between the spreads of two policies at one value."""


def completion(of: Digest) -> str:
    frame = Frame(
        x=scale.log_times([value for curve in of.completion for value in curve.x]),
        y=scale.shares(),
        x_title="completion time of a job, waiting included",
        y_title="share of the jobs",
    )
    return _stepped(frame, of.completion, title="Completion times")


def busy(of: Digest) -> str:
    highest = max(1.0, *(level for curve in of.busy for level in curve.y))
    frame = Frame(
        x=scale.linear_times(of.shown_s),
        y=scale.shares(highest),
        x_title="time since the first submission",
        y_title="GPUs held",
    )
    return _stepped(frame, of.busy, title="GPUs held over time")


def queue(of: Digest) -> str:
    frame = Frame(
        x=scale.linear_times(of.shown_s),
        y=scale.counts(max(level for curve in of.queue for level in curve.y)),
        x_title="time since the first submission",
        y_title="jobs that wait",
    )
    return _stepped(frame, of.queue, title="Jobs that wait over time")


def _stepped(frame: Frame, curves: Sequence[Curve], *, title: str) -> str:
    lines = "".join(
        marks.steps(frame, curve.x, curve.y, number=number, name=curve.policy)
        for number, curve in enumerate(curves)
    )
    series = [marks.Series(curve.policy, curve.x, curve.y) for curve in curves]
    return frame.drawn(lines, title=title, data=marks.values(frame, series, stepped=True))


def waits(of: Digest) -> str:
    labels = [label for label, _ in of.sizes]
    frame = Frame(
        x=scale.places(labels),
        y=scale.log_times([wait for each in of.waits for wait in each.mean_s]),
        x_title="what the job asked for",
        y_title="average wait",
    )
    places = tuple(float(place) for place in range(len(labels)))
    paths, dots = "", ""
    for number, each in enumerate(of.waits):
        words = [
            f"{label}, {each.policy}: {human_time(wait)}"
            for label, wait in zip(labels, each.mean_s, strict=True)
        ]
        paths += marks.joined(frame, places, each.mean_s, number=number, name=each.policy)
        line = marks.Series(each.policy, places, each.mean_s)
        dots += marks.dots(frame, line, number=number, words=words)
    return frame.drawn(paths, dots, title="Average wait by size of the job")


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
    one = f'<path class="one" d="M{frame.across(1)} 0V{SIZE}"/>'
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
    title = f"{gains.after} instead of {gains.before}"
    return frame.drawn(one, dots, title=title, rows=True)


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
    return frame.drawn("", bars, title=title, rows=True)


def sensitivity(of: Sensitivity, policies: Sequence[str]) -> str:
    values = [each for spread in of.spreads for each in (*spread.least, *spread.most)]
    frame = Frame(
        x=scale.plain(of.spreads[0].x),
        y=scale.log_ratios(values),
        x_title=_AXIS.get(of.varied, of.varied),
        y_title=f"times better than {of.first}",
    )
    order = list(policies)
    paths, shapes = "", ""
    for place, each in enumerate(of.spreads):
        number, aside = order.index(each.policy), _ASIDE * (place - (len(of.spreads) - 1) / 2)
        words = [
            f"{of.varied} {at:g}, {each.policy}: {times(mean)}"
            for at, mean in zip(each.x, each.mean, strict=True)
        ]
        line = marks.Series(each.policy, each.x, each.mean)
        paths += marks.joined(frame, each.x, each.mean, number=number, name=each.policy)
        shapes += marks.whiskers(frame, each.x, each.least, each.most, number=number, aside=aside)
        shapes += marks.dots(frame, line, number=number, words=words, aside=aside)
    return frame.drawn(paths, shapes, title=f"{of.trace}: what {of.varied} changes")
