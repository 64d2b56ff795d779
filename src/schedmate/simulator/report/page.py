"""One HTML file that needs nothing else: no network, and no script to be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from schedmate.design import marks
from schedmate.design.document import document
from schedmate.design.words import human_time, plural, share, text, times
from schedmate.model import BadInput
from schedmate.simulator.report import figures, tables
from schedmate.simulator.report.digest import Digest
from schedmate.simulator.report.gains import Gains
from schedmate.simulator.report.sensitivity import Sensitivity

_CROWDED = 0.7


def trace_section(of: Digest) -> str:
    legend = marks.legend(list(of.compared.policies))
    return "".join(
        [
            f"<h2>{text(of.compared.trace)}</h2>",
            f"<p>{_setting_in_words(of)}</p>",
            tables.headline(of),
            _figure(
                "Completion times",
                legend + figures.completion(of),
                "How many of the jobs had ended so long after they were submitted; further left "
                "and higher is better. The scale is logarithmic; under a second counts as one.",
            ),
            _waits(of, legend),
            _figure(
                "GPUs held over time",
                legend + figures.busy(of),
                _held_in_words(of),
            ),
            _figure(
                "Jobs that wait over time",
                legend + figures.queue(of),
                "Without GPUs: before their first start, or stopped since; what a job that was "
                "interrupted waited after its first start is spread evenly until its end; "
                f"{_shown(of)}.",
            ),
            _ablations(of),
            _controls(of),
            _who_gains(of),
        ]
    )


def assumptions(of: Digest) -> str:
    lines = "".join(f"<li>{text(line)}</li>" for line in of.compared.assumptions)
    return f"<h3>{text(of.compared.trace)}</h3><ul>{lines}</ul>"


def sensitivity_section(found: list[Sensitivity], policies: list[str]) -> str:
    if not found:
        return ""
    legend = marks.legend(policies)
    parts = [
        _figure(
            f"{each.trace}: {each.varied}",
            legend + figures.sensitivity(each, policies) + tables.sensitivity(each),
            f"How many times shorter the average completion time is than that of {each.first} in "
            f"the same setting: geometric mean, least and most over {each.runs} settings.",
        )
        for each in found
    ]
    return "<h2>What the settings change</h2>" + "".join(parts)


def _setting_in_words(of: Digest) -> str:
    compared = of.compared
    words = f"{plural(compared.jobs, 'job')} on {plural(compared.gpus, 'GPU')}. "
    if compared.setting:
        values = ", ".join(f"{name} {value:g}" for name, value in compared.setting.items())
        words = f"The first setting of a sweep ({values}). {words}"
    if compared.load is None:
        return text(words + "All jobs come at once.")
    words += (
        f"The load is {compared.load:.2f}: while jobs come, they ask for that many times what the "
        "GPUs can do. "
    )
    if compared.load < _CROWDED:
        words += "There is room for nearly every job, so no policy can make much of a difference."
    return text(words)


def _figure(title: str, drawn: str, caption: str) -> str:
    return (
        f'<section class="card wide"><h3>{text(title)}</h3><figure>{drawn}'
        f"<figcaption>{text(caption)}</figcaption></figure></section>"
    )


def _waits(of: Digest, legend: str) -> str:
    numbers = (
        "<details><summary>Average / median / 90th percentile</summary>"
        f"{tables.waits(of)}</details>"
    )
    return _figure(
        "Waits by size of the job",
        legend + figures.waits(of) + numbers,
        "Time without GPUs: until the first start and, for jobs that were interrupted, after it "
        "too. The scale is logarithmic; under a second counts as one.",
    )


def _held_in_words(of: Digest) -> str:
    words = f"Averages over {human_time(of.shown_s / len(of.busy[0].x))}; {_shown(of)}."
    if not of.smoothed:
        return words
    return (
        f"{words} Of {', '.join(of.smoothed)}: what a job held that was interrupted is spread "
        "evenly between its first start and its end."
    )


def _shown(of: Digest) -> str:
    if of.shown_s >= of.lasted_s:
        return "until the last job has ended"
    return f"the first {human_time(of.shown_s)} of {human_time(of.lasted_s)}"


def _ablations(of: Digest) -> str:
    names = list(of.compared.policies)
    found = []
    for name in names:
        aided = [other for other in names if other.startswith(f"{name}+")]
        if len(aided) > 1:
            found.append(figures.ablation(of, [name, *aided]))
    if not found:
        return ""
    caption = "Each policy alone, with one part of SchedMate, and with all three."
    return _figure("What each part brings", "".join(found), caption)


def _controls(of: Digest) -> str:
    parts = [
        _figure(
            f"{_with_code(of, name)} by other predictors",
            figures.controls(of, name) + tables.controls(of, name),
            "The same ordering by other predictors. What reading code is worth is the distance "
            "from the best of them that reads none to semantic; oracle is what is left.",
        )
        for name in of.compared.controls
    ]
    return "".join(parts)


def _with_code(of: Digest, policy: str) -> str:
    return tables.with_code(policy, of.compared.code.get(policy, ""))


def _who_gains(of: Digest) -> str:
    if not of.gains:
        return ""
    parts = [
        f"<details{' open' if number == 0 else ''}><summary>"
        f"{text(_with_code(of, each.after))} instead of "
        f"{text(each.before)}</summary><p>{_in_words(each)}</p><figure>"
        f"{figures.who_gains(each)}</figure>{tables.gains(each)}</details>"
        for number, each in enumerate(of.gains)
    ]
    note = (
        '<p class="soft">To the right of one: jobs of this kind end sooner on average. Slower is '
        "a job that ends later by more than a second and one percent. Users and groups are those "
        "with the most GPU time requested.</p>"
    )
    heading = '<section class="card wide"><h3>Who gains and who loses</h3>'
    return f"{heading}{note}{''.join(parts)}</section>"


def _in_words(of: Gains) -> str:
    all_jobs = of.rows[0]
    words = (
        f"On average jobs end {times(all_jobs.ratio)} as fast. {share(of.faster)} of the jobs end "
        f"sooner and {share(all_jobs.slower)} later"
    )
    if all_jobs.slower:
        words += f", those by {human_time(all_jobs.slower_by_s)} in the median"
    words += f". {of.users_better_off} of {of.users} users are better off on average."
    return text(words)


SEMI_SYNTHETIC = (
    "Semi-synthetic: each job was given synthetic code, a training project and numbers that "
    "explain a stated share of how long jobs take. What SchedMate reads there is ours, not the "
    "users'; sizes, times, users and outcomes are the trace's. Rows that go by it say so."
)


def write_report(
    path: Path,
    digests: Sequence[Digest],
    *,
    command: str,
    sensitivity: Sequence[Sensitivity] = (),
) -> None:
    """Write the report of one or more traces; `command` is what makes it again."""
    page = report_html(digests, command=command, sensitivity=sensitivity)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadInput(f"cannot write the report to {path}: {why}; name another file") from error


def report_html(
    digests: Sequence[Digest],
    *,
    command: str,
    sensitivity: Sequence[Sensitivity] = (),
) -> str:
    policies = list(digests[0].compared.policies)
    synthetic = any("synthetic" in each.compared.code.values() for each in digests)
    warning = f'<p class="warning">{text(SEMI_SYNTHETIC)}</p>' if synthetic else ""
    body = (
        f"{warning}{''.join(trace_section(each) for each in digests)}"
        f"{sensitivity_section(list(sensitivity), policies)}"
        f"<h2>What was assumed</h2>{''.join(assumptions(each) for each in digests)}"
    )
    return document(
        "What a policy would do",
        "A simulation of past jobs. Completion time is the time from submission to the end, "
        "waiting included; times better is against the first policy.",
        body,
        command=command,
        title=_title(digests),
    )


def _title(digests: Sequence[Digest]) -> str:
    return ", ".join(each.compared.trace for each in digests) + " · SchedMate"
