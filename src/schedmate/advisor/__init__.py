"""Source code and history to what a job is and how long it will take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily

if TYPE_CHECKING:
    from schedmate.advisor.advisor import Advised, Advisor
    from schedmate.advisor.launch.target import Target

__all__ = [
    "Advised",
    "Advisor",
    "Target",
]

__getattr__ = lazily(
    __name__,
    {
        "Advised": "schedmate.advisor.advisor",
        "Advisor": "schedmate.advisor.advisor",
        "Target": "schedmate.advisor.launch.target",
    },
)
