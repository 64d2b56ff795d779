"""Nodes that fail and are repaired."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    node: int
    at: float
    until: float
