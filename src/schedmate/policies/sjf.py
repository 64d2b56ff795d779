"""Shortest job first, by what an oracle says."""

from __future__ import annotations

from schedmate.policies.disciplines import Ordered


class Sjf(Ordered):
    name = "sjf"
    source = "oracle"
    key = "expected"
