"""A private PostgreSQL server in a directory: a socket there, no network, gone at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEBIAN = Path("/usr/lib/postgresql")
_FAST = ("fsync=off", "full_page_writes=off")
"""It need not survive a power failure."""


def programs() -> Path | None:
    """Where initdb and postgres are, of the newest version."""
    found = sorted(_DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    elsewhere = shutil.which("initdb")
    return Path(elsewhere).parent if elsewhere else None


@contextmanager
def private_postgres() -> Iterator[PostgresServer]:
    where = programs()
    if where is None:
        raise FileNotFoundError("initdb")
    # the path of a socket is short
    with tempfile.TemporaryDirectory(prefix="schedmate-pg-", dir="/tmp") as folder:
        server = PostgresServer(Path(folder), where)
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()


class PostgresServer:
    def __init__(self, root: Path, where: Path) -> None:
        self.root, self._where = root, where
        self._data = root / "data"

    def create(self) -> None:
        if os.getuid() == 0:  # whom it refuses to run as
            account = pwd.getpwnam("postgres")
            os.chown(self.root, account.pw_uid, account.pw_gid)
        self._run("initdb", "--auth=trust", "--no-sync", "--username=postgres", "-D", self._data)

    def start(self) -> None:
        options = [f"-c {one}" for one in (*_FAST, "listen_addresses=", "max_connections=200")]
        options.append(f"-k {self.root}")
        log = ("-l", self.root / "log")
        self._run(
            "pg_ctl", "-D", self._data, "-w", "-t", 120, *log, "-o", " ".join(options), "start"
        )

    def stop(self, how: str = "fast") -> None:
        self._control("-m", how, "stop")

    def database(self, name: str) -> str:
        """Make it where it is not there; returns its URL."""
        url = f"postgresql://postgres@/{name}?host={self.root}"
        admin = ("-h", str(self.root), "-U", "postgres", "-tA")
        known = self._run("psql", *admin, "-c", "SELECT datname FROM pg_database").split()
        if name not in known:
            self._run("createdb", *admin[:4], name)
        return url

    def _control(self, *arguments: object) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-t", 120, *arguments)

    def _run(self, program: str, *arguments: object) -> str:
        command = [str(self._where / program), *(str(one) for one in arguments)]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL
        )
        return done.stdout
