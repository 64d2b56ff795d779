"""Smallest service first: run time times GPUs, by what an oracle says."""

from __future__ import annotations

from schedmate.policies.disciplines import Ordered


class Ssf(Ordered):
    name = "ssf"
    source = "oracle"
    key = "expected_service"
