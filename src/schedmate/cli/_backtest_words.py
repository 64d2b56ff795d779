"""What the table and the page of `schedmate backtest` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.service.usecases.backtest import Backtest

PREDICTORS = {
    "schedmate": "SchedMate",
    "without_code": "SchedMate, no code",
    "history": "same name, rolling mean",
    "last_two": "user's last two runs",
    "site_median": "median of all runs",
    "limit": "time limit",
    "constant": "one constant",
}
"""What a table calls each of them."""


def headline(found: Backtest) -> str:
    """What a site decides by, in two sentences."""
    gain, ours = found.gain, found.predictors["schedmate"]
    control = found.predictors[found.best_control]
    span = max(1, round((found.last - found.first) / 86_400))
    judged = f"{found.runs} of your runs" if found.own_only else _of_all(found)
    return (
        f"{judged}, submitted over {span} {'day' if span == 1 else 'days'}, code read for "
        f"{found.with_code}: SchedMate is within a factor of two for {ours.within_2x:.0%}, the "
        f"best control ({PREDICTORS[found.best_control]}) for {control.within_2x:.0%}.\n"
        f"Difference {100 * gain.within_2x:+.0f} points, 95% interval {100 * gain.low:+.0f} to "
        f"{100 * gain.high:+.0f}: {_verdict(found)}."
    )


def _of_all(found: Backtest) -> str:
    """Those before which none had ended, or before --since, are only learnt from."""
    left_out = found.learnt_from - found.runs
    return f"{found.runs} runs" + (
        f" of {found.learnt_from} (the others came first)" if left_out else ""
    )


def _verdict(found: Backtest) -> str:
    if found.gain.low > 0:
        return "predictions are worth more than the best control here"
    if found.gain.high < 0:
        return "the best control predicts better here"
    return "no difference can be shown yet"
