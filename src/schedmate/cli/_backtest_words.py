"""What the table and the page of `schedmate backtest` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.design.words import plural

if TYPE_CHECKING:
    from schedmate.service.usecases.backtest import Backtest
    from schedmate.service.usecases.backtest_scores import Difference

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
    """What a site decides by: the shares, and below whether they differ."""
    ours = found.predictors["schedmate"]
    control = found.predictors[found.best_control]
    span = max(1, round((found.last - found.first) / 86_400))
    judged = f"{found.runs} of your runs" if found.own_only else _of_all(found)
    return (
        f"{judged}, submitted over {span} {'day' if span == 1 else 'days'}, code read for "
        f"{found.with_code}: SchedMate is within a factor of two for {ours.within_2x:.0%}, the "
        f"best control ({PREDICTORS[found.best_control]}) for {control.within_2x:.0%}.\n"
        f"{_verdict(found.gain)}."
    )


def _of_all(found: Backtest) -> str:
    """Those before which none had ended, or before --since, are only learnt from."""
    left_out = found.learnt_from - found.runs
    return f"{found.runs} runs" + (
        f" of {found.learnt_from} (the others came first)" if left_out else ""
    )


def _verdict(gain: Difference) -> str:
    from schedmate.service.usecases.backtest_scores import FEWEST_GROUPS

    if gain.low is None or gain.high is None:
        return (
            "Too little to tell them apart: a user's runs of one day count as one group, and "
            f"these are {plural(gain.groups, 'group')}; {FEWEST_GROUPS} are needed. More days or "
            "users give them: schedmate history import slurm --since DATE"
        )
    difference = (
        f"Difference {100 * gain.within_2x:+.0f} points, 95% interval {100 * gain.low:+.0f} to "
        f"{100 * gain.high:+.0f}"
    )
    if gain.low > 0:
        return f"{difference}: predictions are worth more than the best control here"
    if gain.high < 0:
        return f"{difference}: the best control predicts better here"
    return f"{difference}: no difference can be shown yet"
