"""Quasi-shortest service first (Helios, SC'21): smallest predicted GPU time first.

As there, nobody overtakes the first in line, and a running job is never stopped.
"""

from __future__ import annotations

from schedmate.policies.disciplines import Ordered


class Qssf(Ordered):
    name = "qssf"
    source = "qssf"
    key = "expected_service"
