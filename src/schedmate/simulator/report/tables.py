"""The tables of a report."""

from __future__ import annotations

from collections.abc import Sequence

from schedmate.design.words import human_number, human_time, plural, share, text, times
from schedmate.simulator.engine.outcome import KINDS, Summary
from schedmate.simulator.estimators.controls import CONTROLS, LEVER_CONTROLS
from schedmate.simulator.report.digest import Digest
from schedmate.simulator.report.gains import Gains, ratio
from schedmate.simulator.report.sensitivity import Sensitivity

_BETTER, _WORSE = 1.005, 0.995
_TAIL_NOTICED = 1.1
_HEADINGS = (
    *("policy", "average completion", "times better", "median", "99th percentile"),
    *("average wait", "worst wait", "slowdown", "worst user's slowdown"),
    *("makespan", "GPUs held", "preemptions", "requeues"),
)


def headline(of: Digest) -> str:
    """A table for each kind of policy: what the live adapters can do is not mixed with what a
    scheduler that asks could."""
    first = next(iter(of.compared.policies.values()))
    return "".join(
        f'<section class="card wide"><h3>{text(KINDS[kind].capitalize())}</h3>'
        + table(
            _HEADINGS,
            [
                _summary(with_code(name, of.compared.code.get(name, "")), each, first)
                for name, each in policies.items()
            ],
        )
        + (f'<p class="soft">{text(_NOT_LIVE)}</p>' if kind == "asking" else "")
        + "</section>"
        for kind, policies in of.compared.by_kind().items()
    )


def with_code(policy: str, code: str) -> str:
    """The policy, and that its figures go by synthetic code, or by none."""
    words = {"synthetic": "synthetic code", "none": "no code"}.get(code)
    return f"{policy} ({words})" if words else policy


def _summary(name: str, summary: Summary, first: Summary) -> list[str]:
    return [
        _cell(name),
        _cell(human_time(summary.avg_jct_s)),
        _judged(ratio(first.avg_jct_s, summary.avg_jct_s)),
        _cell(human_time(summary.p50_jct_s)),
        _tail(summary.p99_jct_s, first.p99_jct_s),
        _cell(human_time(summary.avg_queue_s)),
        _cell(human_time(summary.worst_wait_s)),
        _cell(human_number(round(summary.avg_slowdown, 2))),
        _cell(human_number(round(summary.worst_user_slowdown, 2))),
        _cell(human_time(summary.makespan_s)),
        _cell(share(summary.gpu_utilization)),
        _cell(human_number(summary.preemptions)),
        _cell(human_number(summary.requeues)),
    ]


_NOT_LIVE = (
    "These schedulers preempt, share GPUs or order by predictions themselves and ask SchedMate for "
    "answers. The live adapters do none of this: they set nice numbers, requeue and cancel."
)


def controls(of: Digest, name: str) -> str:
    """One policy with SchedMate by each predictor, against the policy alone."""
    base = of.compared.policies[of.compared.unaided(name)]
    headings = ("predictor", *_HEADINGS[1:], "what it is")
    rows = [
        [*_summary(predictor, each, base), _cell({**CONTROLS, **LEVER_CONTROLS}[predictor])]
        for predictor, each in of.compared.controls[name].items()
    ]
    return table(headings, rows)


def waits(of: Digest) -> str:
    headings = ["policy", *(f"{label} ({plural(jobs, 'job')})" for label, jobs in of.sizes)]
    rows = []
    for each in of.waits:
        spread = zip(each.mean_s, each.p50_s, each.p90_s, strict=True)
        rows.append(
            [_cell(each.policy), *(_cell(" / ".join(map(human_time, waits))) for waits in spread)]
        )
    return table(headings, rows)


def gains(of: Gains) -> str:
    headings = ("jobs of", "jobs", "times better", "slower", "slower by (median)")
    rows = [
        [
            _cell(row.label),
            _cell(human_number(row.jobs)),
            _judged(row.ratio),
            _cell(share(row.slower)),
            _cell(human_time(row.slower_by_s) if row.slower else "-"),
        ]
        for row in of.rows
    ]
    return table(headings, rows)


def sensitivity(of: Sensitivity) -> str:
    """A column a policy, then one a control."""
    shown = (*of.spreads, *of.controls)
    headings = (of.varied, *(with_code(each.policy, of.code_of(each.policy)) for each in shown))
    rows = []
    for place, value in enumerate(of.spreads[0].x):
        cells = [
            _cell(f"{times(each.mean[place])} ({each.least[place]:.2f} to {each.most[place]:.2f})")
            for each in shown
        ]
        rows.append([_cell(f"{value:g}"), *cells])
    means = [each.overall for each in shown if each.overall is not None]
    if means:
        intervals = [f"{times(each.mean)} ({each.low:.2f} to {each.high:.2f})" for each in means]
        rows.append([_cell("mean, 95 % interval"), *map(_cell, intervals)])
    return table(headings, rows)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """`rows` are cells already; headings are plain words."""
    head = "".join(f'<th scope="col">{text(heading)}</th>' for heading in headings)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="scroll plain" tabindex="0" role="group" aria-label="Table that scrolls">'
        f'<table class="figures"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(words: str) -> str:
    return f"<td>{text(words)}</td>"


def _judged(better: float) -> str:
    kind = "good" if better > _BETTER else "bad" if better < _WORSE else ""
    return f'<td class="{kind}">{times(better)}</td>' if kind else _cell(times(better))


def _tail(p99_s: float, first_s: float) -> str:
    """Marked where the slowest jobs pay for the others."""
    paid = p99_s > _TAIL_NOTICED * first_s
    return f'<td class="bad">{human_time(p99_s)}</td>' if paid else _cell(human_time(p99_s))
