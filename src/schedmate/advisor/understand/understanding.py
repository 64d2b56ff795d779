"""What reading a job's files tells, small enough to be kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedmate.advisor.understand.traits import Traits
from schedmate.model import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """`code` are the digests of the Python files that may run, `configs` of those that they read;
    `mentions_gpu` is whether anything in them would use one."""

    workload: Workload
    code: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    mentions_gpu: bool = True
    signature: tuple[int, ...] = ()
    """By which code that is nearly the same is known."""
    traits: Traits = field(default_factory=Traits)
