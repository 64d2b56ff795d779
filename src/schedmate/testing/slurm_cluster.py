"""A private, real Slurm cluster in one directory: munge, MariaDB, slurmdbd, slurmctld, slurmd and,
on demand, slurmrestd.

    with private_slurm() as cluster:
        ...                       # os.environ["SLURM_CONF"] points at it

Nothing outside the directory is read or written, every port is a free one, and the daemons are
children that die with the process that started them, however it ends.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.testing import slurm_config
from schedmate.testing.site_slurm import BESIDE, find_site_slurm
from schedmate.testing.slurm_config import Ports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PROGRAMS = ("munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sbatch")
_REST_USER = "nobody"
"""slurmrestd starts neither as root nor as SlurmUser."""
_JWT_PLUGIN = "*/slurm*/auth_jwt.so"
_NODES = 2
_START_S = 60.0
_STOP_S = 10.0


def why_not() -> str | None:
    """Why no cluster can be started here, or None where one can."""
    if os.geteuid() != 0:
        return "a private Slurm cluster needs root (slurmd starts jobs as their users)"
    missing = [program for program in PROGRAMS if _program(program) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (scripts/install-test-packages)"
    site = find_site_slurm()
    if site:
        return f"a Slurm is configured on this machine: {site} ({BESIDE}=yes starts one beside it)"
    return None


def why_no_rest() -> str | None:
    """Why the cluster has no slurmrestd with tokens, or None where it has."""
    if _program("slurmrestd") is None or not any(Path("/usr/lib").glob(_JWT_PLUGIN)):
        return "not installed: slurmrestd, slurm-wlm-jwt-plugin (scripts/install-test-packages)"
    return None


@contextmanager
def private_slurm(
    directory: Path | None = None,
    *,
    nodes: int = _NODES,
    gpus_per_node: int = 2,
    settings: Mapping[str, str] | None = None,
) -> Iterator[SlurmCluster]:
    """Start a cluster, point SLURM_CONF at it, and stop it at the end.

    `settings` replace lines of slurm.conf by their first word.
    """
    with ExitStack() as stack:
        if directory is None:  # socket paths must be short
            made = tempfile.mkdtemp(prefix="schedmate-slurm-", dir="/tmp")
            stack.callback(shutil.rmtree, made, ignore_errors=True)
            directory = Path(made)
        names = tuple(f"node{number}" for number in range(nodes))
        cluster = SlurmCluster(
            directory.resolve(), names, gpus_per_node, Ports.free(nodes), settings=settings or {}
        )
        before = os.environ.get("SLURM_CONF")
        stack.callback(_restore, before)
        os.environ["SLURM_CONF"] = str(cluster.config)
        stack.callback(cluster.stop)
        cluster.start()
        yield cluster


@contextmanager
def another_cluster(first: SlurmCluster, name: str) -> Iterator[SlurmCluster]:
    """Start a second cluster in the same accounting; the commands keep to the first one."""
    node = f"{name}0"
    cluster = SlurmCluster(
        first.directory / name, (node,), ports=Ports.free(1), name=name, accounts_of=first
    )
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@dataclass(slots=True)
class SlurmCluster:
    directory: Path
    nodes: tuple[str, ...] = tuple(f"node{number}" for number in range(_NODES))
    gpus_per_node: int = 2
    ports: Ports = field(default_factory=lambda: Ports.free(_NODES))
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    has_rest: bool = field(default_factory=lambda: why_no_rest() is None)
    name: str = slurm_config.CLUSTER
    accounts_of: SlurmCluster | None = None
    """The cluster whose munge and slurmdbd it uses."""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        return len(self.nodes) * self.gpus_per_node

    @property
    def config(self) -> Path:
        return self.directory / "etc" / "slurm.conf"

    @property
    def munge_socket(self) -> Path:
        return (self.accounts_of or self).directory / "munge.sock"

    @property
    def accounting_port(self) -> int:
        return (self.accounts_of or self).ports.accounting

    def start(self) -> None:
        self._prepare()
        if self.accounts_of is None:
            self.daemon("munged", *self._munge_arguments())
            self._wait("munged", self.munge_socket.is_socket)
            self._start_database()
            self.start_accounting()
        add_cluster = ("sacctmgr", "-i", "add", "cluster", self.name)
        self._wait("slurmdbd", lambda: self._succeeds(*add_cluster))
        self.start_controller()
        for node in self.nodes:
            self.daemon("slurmd", "-D", "-N", node, name=node)
        self._wait("the nodes", self._all_idle)

    def start_accounting(self) -> None:
        self.daemon("slurmdbd", "-D", MYSQL_UNIX_PORT=str(self._path("db.sock")))
        # the clients answer late when they come too early
        self._wait("slurmdbd", lambda: _listens(self.ports.accounting))

    def start_controller(self, *, forgetful: bool = False) -> None:
        """`forgetful` starts it with an empty memory, as if every job had been purged."""
        self.daemon("slurmctld", "-D", *(["-c"] if forgetful else []))
        self._wait("slurmctld", lambda: _listens(self.ports.controller))
        self._wait("slurmctld", lambda: self._succeeds("sinfo", "-h"))

    @property
    def rest_url(self) -> str:
        return f"http://127.0.0.1:{self.ports.rest}"

    @property
    def rest_socket(self) -> Path:
        return self._path("rest") / "slurmrestd.sock"

    def start_rest(self) -> None:
        """slurmrestd on a port of this machine and on a socket; it asks for tokens."""
        self.directory.chmod(0o755)
        directory = self.rest_socket.parent
        directory.mkdir(exist_ok=True)
        shutil.chown(directory, _REST_USER)
        self.rest_socket.unlink(missing_ok=True)
        places = [f"127.0.0.1:{self.ports.rest}", f"unix:{self.rest_socket}"]
        self.daemon(
            *("slurmrestd", "-a", "rest_auth/jwt", *places),
            user=_REST_USER,
            # any token: without one it would look for munge
            SLURM_JWT="daemon",
        )
        self._wait("slurmrestd", lambda: _listens(self.ports.rest))

    def token(self, lifespan_s: int = 3600, user: str = "root") -> str:
        """What slurmrestd takes as this user's word."""
        words = ["scontrol", "token", f"username={user}", f"lifespan={lifespan_s}"]
        answer = subprocess.run(words, capture_output=True, check=True)
        return answer.stdout.decode().strip().removeprefix("SLURM_JWT=")

    def daemon(
        self, program: str, *arguments: str, name: str = "", user: str = "", **environment: str
    ) -> None:
        path = _program(program)
        if path is None:
            raise FileNotFoundError(program)
        log = self._path(f"{name or program}.log")
        account = [f"--reuid={user}", "--regid=nogroup", "--clear-groups"] if user else []
        with log.open("ab") as output:
            self.running[name or program] = subprocess.Popen(
                ["setpriv", *account, "--pdeathsig", "KILL", path, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**self._environment(), **environment},
                start_new_session=True,
            )

    def stop_daemon(self, name: str) -> None:
        process = self.running.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop(self) -> None:
        """Cancel what runs, because jobs outlive their daemons, then stop in reverse order."""
        if "slurmctld" in self.running and self._succeeds("scancel", "--user=root"):
            with suppress(TimeoutError):
                self._wait("the last job", self._queue_is_empty, at_most_s=_STOP_S)
        for name in reversed(list(self.running)):
            self.stop_daemon(name)

    def _prepare(self) -> None:
        for name in ("etc", "state", "spool", "data"):
            self._path(name).mkdir(parents=True, exist_ok=True)
        for name in ("munge.key", "jwt.key"):
            key = self._path(name)
            key.write_bytes(os.urandom(128))
            key.chmod(0o400)
        host = socket.gethostname().partition(".")[0]
        for name, text in slurm_config.files(self, host, _major_version()).items():
            path = self._path("etc") / name
            path.write_text(text)
            path.chmod(0o600 if name == "slurmdbd.conf" else 0o644)

    def _munge_arguments(self) -> list[str]:
        return [
            "--foreground",
            "--force",
            f"--socket={self._path('munge.sock')}",
            f"--key-file={self._path('munge.key')}",
            f"--pid-file={self._path('munged.pid')}",
            f"--seed-file={self._path('munge.seed')}",
            f"--log-file={self._path('munged.log')}",
        ]

    def _start_database(self) -> None:
        where = ["--no-defaults", f"--datadir={self._path('data')}", "--user=root"]
        self._install_database(where)
        database = f"--socket={self._path('db.sock')}"
        pid = f"--pid-file={self._path('mariadbd.pid')}"
        tuning = ["--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=8M"]
        self.daemon("mariadbd", *where, database, pid, *tuning, "--skip-networking")
        sql = ["mariadb", "--no-defaults", database, "-e", "CREATE DATABASE slurm_acct_db"]
        self._wait("MariaDB", lambda: self._succeeds(*sql))

    def _install_database(self, where: list[str]) -> None:
        """Again where it fails: several that begin at once get into each other's way at times."""
        words = ["mariadb-install-db", *where, "--skip-test-db", "--skip-name-resolve", "--force"]
        for last in (False, False, True):
            with self._path("mariadb-install.log").open("ab") as log:
                done = subprocess.run(words, stdout=log, stderr=log, check=last)
            if done.returncode == 0:
                return
            shutil.rmtree(self._path("data"), ignore_errors=True)
            time.sleep(2)

    def _all_idle(self) -> bool:
        idle = self._answer("sinfo", "-h", "-N", "-t", "idle", "-o", "%N")
        return set(idle.stdout.decode().split()) == set(self.nodes)

    def _queue_is_empty(self) -> bool:
        return not self._answer("squeue", "-h", "--local").stdout

    def _succeeds(self, *command: str) -> bool:
        return self._answer(*command).returncode == 0

    def _answer(self, *command: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command, capture_output=True, env=self._environment(), check=False)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self.config)}

    def _wait(self, what: str, ready: Callable[[], bool], at_most_s: float = _START_S) -> None:
        deadline = time.monotonic() + at_most_s
        while not ready():
            dead = [name for name, process in self.running.items() if process.poll() is not None]
            if dead or time.monotonic() > deadline:
                raise TimeoutError(f"{what} is not ready; died: {dead}; {self._last_words()}")
            time.sleep(0.05)

    def _last_words(self) -> str:
        logs = sorted(self.directory.glob("*.log"), key=lambda path: path.stat().st_mtime)
        return "\n".join(
            f"{log.name}: {log.read_text(errors='replace')[-500:]}" for log in logs[-2:]
        )

    def _path(self, name: str) -> Path:
        return self.directory / name


def _program(name: str) -> str | None:
    """Daemons live where a user's PATH often does not look."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def _major_version() -> int:
    """22 of `slurm-wlm 22.05.8`; the clients report theirs only once there is a slurm.conf."""
    answer = subprocess.run([_program("slurmctld") or "", "-V"], capture_output=True, check=True)
    return int(answer.stdout.split()[-1].partition(b".")[0])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _restore(slurm_conf: str | None) -> None:
    if slurm_conf is None:
        os.environ.pop("SLURM_CONF", None)
    else:
        os.environ["SLURM_CONF"] = slurm_conf


def main(command: list[str]) -> int:
    """Run a command inside a cluster; `scripts/private-slurm` is the way to call it."""
    reason = why_not()
    if reason is not None:
        sys.stderr.write(f"private-slurm: {reason}\n")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with private_slurm() as cluster:
        sys.stderr.write(f"private-slurm: {len(cluster.nodes)} nodes, {cluster.slots} GPUs\n")
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
