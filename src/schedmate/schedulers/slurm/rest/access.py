"""slurmrestd as the settings name it, in front of the commands."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model import SchedMateError
from schedmate.model.account import account_name
from schedmate.schedulers.base import Trial
from schedmate.schedulers.slurm.rest.api import RestApi
from schedmate.schedulers.slurm.rest.changes import RestChanges
from schedmate.schedulers.slurm.rest.client import RestClient
from schedmate.schedulers.slurm.rest.source import RestSource
from schedmate.schedulers.slurm.rest.tokens import OwnToken, TokenFile

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.schedulers.slurm.changes import SlurmChanges
    from schedmate.schedulers.slurm.commands import SlurmCommands
    from schedmate.schedulers.slurm.rest.tokens import TokenSource
    from schedmate.schedulers.slurm.source import SlurmSource

_log = logging.getLogger("schedmate.slurm")


@dataclass(frozen=True, slots=True)
class RestAccess:
    """`slurm.rest_url` and `slurm.rest_token_file`."""

    url: str
    token_file: Path | None = None

    def opened(
        self, slurm: SlurmCommands, source: SlurmSource, changes: SlurmChanges
    ) -> OpenRest | None:
        """None where the token is another account's: the commands then do all of it."""
        file = self.token_file
        if file is not None and _is_closed(file):
            _log.info("%s cannot be read by this account: Slurm's commands are used", file)
            return None
        tokens: TokenSource = OwnToken(slurm.own_token) if file is None else TokenFile(file)
        api = RestApi(RestClient(self.url, tokens, slurm.timeout_s))
        return OpenRest(api, tokens, RestSource(api, source), RestChanges(api, changes))


def _is_closed(file: Path) -> bool:
    try:
        file.open("rb").close()
    except PermissionError:
        return True
    except OSError:
        return False  # a file that is missing is worth an error
    return False


@dataclass(frozen=True, slots=True)
class OpenRest:
    api: RestApi
    tokens: TokenSource
    source: RestSource
    changes: RestChanges

    def trial(self) -> Trial:
        """Which version it speaks, and what it leaves to the commands."""
        try:
            version = self.api.version
            left = ", ".join([*self.source.by_commands(), *self.changes.by_commands()])
            notes = [f"{self.api.client.place.url} speaks {version}; by commands: {left}"]
            user = self.tokens.current().user
        except SchedMateError as error:
            return Trial("rest", allowed=False, note=str(error))
        if user and user != account_name():
            notes.append(f"its token is of user {user}, the commands run as {account_name()}")
        if isinstance(self.tokens, TokenFile) and self.tokens.is_open_to_others():
            notes.append("others can read the token file: chmod 600")
        return Trial("rest", allowed=True, note="; ".join(notes))
