"""As they came, but whoever fits may overtake those who do not."""

from __future__ import annotations

from schedmate.policies.disciplines import Ordered


class FirstFit(Ordered):
    name = "first-fit"
    source = None
    key = "place"

    def __init__(self) -> None:
        super().__init__(discipline="first_fit")
