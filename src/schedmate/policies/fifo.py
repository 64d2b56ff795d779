"""In order of submission, the two plain ways."""

from __future__ import annotations

from schedmate.policies.disciplines import StaticOrder


class Fifo(StaticOrder):
    """No job overtakes the head of the queue."""

    name = "fifo"


class FirstFit(StaticOrder):
    """A job that fits may overtake those that do not."""

    name = "first-fit"

    def __init__(self) -> None:
        super().__init__(discipline="first_fit")
