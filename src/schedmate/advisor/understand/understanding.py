"""What reading a job's files tells, small enough to be kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedmate.model import Evidence, Remark, Workload


@dataclass(frozen=True, slots=True)
class Library:
    """A package that is not of the job, and the line that imports it."""

    name: str
    line: Evidence
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What the checks want to know of the code, besides the record."""

    libraries: tuple[Library, ...] = ()
    saves: bool = True
    """Whether anything in sight writes a checkpoint; true where unknown."""
    shares_gpus: bool = True
    """Whether anything in sight would use more than one GPU; true where unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """`code` are the digests of the Python files that may run, `configs` of those that they read;
    `mentions_gpu` is whether anything in them would use one."""

    workload: Workload
    code: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    mentions_gpu: bool = True
    needs_gpu: bool = False
    """Whether it would fail without one; false where unknown."""
    signature: tuple[int, ...] = ()
    """By which code that is nearly the same is known."""
    traits: Traits = field(default_factory=Traits)
    summary: str = ""
    """What the job does, in a model's words."""
    remarks: tuple[Remark, ...] = ()
    """What a model says is wrong with it."""
