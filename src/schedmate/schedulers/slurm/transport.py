"""Another way to Slurm than its commands, which stay behind it for what it does not offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from schedmate.schedulers.base import Trial
    from schedmate.schedulers.slurm.changes import SlurmChanges
    from schedmate.schedulers.slurm.commands import SlurmCommands
    from schedmate.schedulers.slurm.source import SlurmSource


class OpenTransport(Protocol):
    @property
    def source(self) -> SlurmSource: ...

    @property
    def changes(self) -> SlurmChanges: ...

    def trial(self) -> Trial:
        """Whether it answers, and what it leaves to the commands."""


class Transport(Protocol):
    def opened(
        self, slurm: SlurmCommands, source: SlurmSource, changes: SlurmChanges
    ) -> OpenTransport | None:
        """In front of these; None where this account is to use the commands alone."""
