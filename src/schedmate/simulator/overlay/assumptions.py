"""What the overlay assumes of people and clusters; each can be swept."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import BadInput

_SHARES = (
    *("resubmission", "edits", "edits_after_failure", "telling_edits", "early_ends"),
    *("batch_changes", "slow_runs", "own_copies", "unread", "wrong_records"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Shares are of jobs unless they say otherwise. Where figures come from:
    docs/explanation/meaning-for-traces.md."""

    resubmission: float = 0.9
    """Jobs of a user who has projects that are one of those again."""
    edits: float = 0.2
    """Resubmissions before which the code was edited."""
    edits_after_failure: float = 0.6
    """The same, where the run before failed."""
    telling_edits: float = 0.3
    """Edits that make it faster or slower."""
    edit_spread: float = 0.35
    """By how much (standard deviation of the logarithm)."""
    early_ends: float = 0.25
    """From 0 to 1, how near their end jobs were that ended early: at 0 any plan may have been cut
    short, at 1 a plan that was much longer is as unlikely as any other change of numbers."""
    batch_changes: float = 0.1
    """Resubmissions with half or twice the batch."""
    noise: float = 0.08
    """Between runs that nothing tells apart (standard deviation of the logarithm)."""
    slow_runs: float = 0.03
    """Runs on a slow node or beside a noisy neighbour: up to twice as long."""
    own_copies: float = 0.8
    """Users' projects whose code nobody else has."""
    copy_spread: float = 0.6
    """By how much copies of one project differ in speed: other data, other hardware."""
    unread: float = 0.15
    """Copies of which the reader does not find the length."""
    wrong_records: float = 0.02
    """Jobs whose record states a wrong length."""

    def __post_init__(self) -> None:
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(f"{name} is a share from 0 to 1, not {getattr(self, name):g}")
