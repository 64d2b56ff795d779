"""The files by which clients and the one server of a machine find each other."""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from schedmate.disk.lock import is_held, lock_if_free

if TYPE_CHECKING:
    from pathlib import Path


_BUSY_S = 1.0


@dataclass(frozen=True, slots=True)
class ServerState:
    """Process and port of the server. The port is 0 while the model is being loaded."""

    pid: int
    port: int = 0
    key: str = field(default="", repr=False)


class RunFiles:
    """One server a machine, even where several machines share the cache directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start_lock = folder / "start.lock"
        self.alive_lock = folder / "alive.lock"
        self.log = folder / "server.log"
        self._state = folder / "server.json"
        self._used = folder / "used"

    @classmethod
    def of(cls, cache_dir: Path) -> RunFiles:
        return cls(cache_dir / "run" / f"model-{socket.gethostname()}")

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def is_alive(self) -> bool:
        """Whether a server lives. It holds this lock until it dies, of whatever cause."""
        return is_held(self.alive_lock)

    def state(self) -> ServerState | None:
        try:
            return ServerState(**json.loads(self._state.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def ready_state(self) -> ServerState | None:
        """The state of a server that lives, has loaded its model and takes calls.

        One that was killed can hold its lock for a moment after its port is gone.
        """
        state = self.state()
        ready = state and state.port and self.is_alive() and _takes_calls(state.port)
        return state if ready else None

    def write_state(self, state: ServerState) -> None:
        new = self._state.with_suffix(".new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(state), file)
        new.replace(self._state)

    def forget_state(self) -> None:
        self._state.unlink(missing_ok=True)

    def touch(self) -> None:
        self._used.touch()

    def idle_s(self) -> float:
        """Seconds since a client last came or went."""
        try:
            return time.time() - self._used.stat().st_mtime
        except FileNotFoundError:
            return float("inf")

    def retire(self, idle_s: float) -> bool:
        """Take the state away, unless a client is just coming: clients come under this lock."""
        with lock_if_free(self.start_lock) as free:
            if not free or self.idle_s() < idle_s:
                return False
            self.forget_state()
            return True


def _takes_calls(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=_BUSY_S).close()
    except TimeoutError:  # it has no time for us now, but it is there
        return True
    except OSError:
        return False
    return True
