"""As they came; nobody overtakes."""

from __future__ import annotations

from schedmate.policies.disciplines import Ordered


class Fifo(Ordered):
    name = "fifo"
    source = None
    key = "place"
