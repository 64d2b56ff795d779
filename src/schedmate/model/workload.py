"""What a job is, read from its script, code, configs and command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

T = TypeVar("T")

Source = Literal["cli", "config", "code", "script", "llm", "derived"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line somebody can open: `file` is relative to the job's directory or as given."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Generic[T]):
    """A value, where it came from and the lines that say so."""

    value: T
    source: Source
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 1.0
    disputed: T | None = None
    """The other value, where reader and model disagree and neither is proved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """`None` means: not stated anywhere, or not derivable. Never a guess."""

    entry_point: Finding[str] | None = None
    framework: Finding[str] | None = None
    task: Finding[str] | None = None
    model: Finding[str] | None = None
    model_parameters: Finding[int] | None = None
    d_model: Finding[int] | None = None
    n_layer: Finding[int] | None = None
    n_head: Finding[int] | None = None
    vocab_size: Finding[int] | None = None
    sequence_length: Finding[int] | None = None
    dataset: Finding[str] | None = None
    batch_size: Finding[int] | None = None
    gradient_accumulation: Finding[int] | None = None
    epochs: Finding[float] | None = None
    max_steps: Finding[int] | None = None
    optimizer: Finding[str] | None = None
    learning_rate: Finding[float] | None = None
    precision: Finding[str] | None = None
    parallelism: Finding[str] | None = None
    nodes: Finding[int] | None = None
    gpus: Finding[int] | None = None
    checkpoint_dir: Finding[str] | None = None
    checkpoint_every: Finding[int] | None = None
    resumes: Finding[bool] | None = None
    log_files: Finding[tuple[str, ...]] | None = None
    max_time_s: Finding[float] | None = None
    early_stopping: Finding[bool] | None = None

    @property
    def proved_resumes(self) -> bool | None:
        """What its code is seen to do: a model's word alone proves nothing, and takes back no
        `False` that was read."""
        found = self.resumes
        if found is None or found.source != "llm":
            return None if found is None else found.value
        return False if found.disputed is False else None
