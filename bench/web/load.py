"""What the pages cost on a site with 50,000 jobs, 2,000 of them running.

    python -m bench.web.load
    python -m bench.web.load --postgres
    python -m bench.web.load --jobs 2000 --running 100 --waiting 100 --seconds 10 --streams 20

A real `schedmate serve` on a store that is filled through its own methods; programs of the
benchmark stand in for Slurm and list the jobs, whose logs grow meanwhile. First one client asks for
every route (`alone`, and `cpu`, the processor time of the server for one request), on a store of
100 jobs (`cpu of 100`, the control) and on the large one. Then all clients ask at once, in the
proportions of `bench/web/mix.py` and without a pause, while event streams are open. p50 to p99 are
of the clients' clocks. The machine's other work makes clocks slower, and `cpu` hardly.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import re
import selectors
import socket
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.command import command_line, console, machine, progress, table
from bench.web.filled_store import SCRIPT, FilledStore, default_cache, filled_store
from bench.web.mix import MIX, Chooser, Route
from bench.web.served import ServedDaemon, serving
from bench.web.site import NODES, USERS, SiteJob
from bench.web.stand_in_slurm import StandInSlurm
from schedmate.model import JobState
from schedmate.model.account import account_name
from schedmate.service.usecases.tokens import create_token
from schedmate.store.moving import move_to_postgres
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.postgres import private_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.model import Job

_CONTROL_JOBS, _CONTROL_RUNNING, _CONTROL_WAITING = 100, 20, 20
_ALONE = 15
_STREAMS_OF_A_USER = 20
_OK = range(200, 400)
_SETTLES_WITHIN, _LITTLE = 8, 0.05


@dataclass(slots=True)
class Measured:
    """Of one route."""

    alone_ms: float = 0.0
    cpu_ms: float = 0.0
    control_cpu_ms: float = 0.0
    times_ms: list[float] = field(default_factory=list)
    size: int = 0
    errors: int = 0


class Client:
    """One connection that stays open, with a token."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"}

    def ask(self, path: str, body: str = "") -> tuple[int, bytes]:
        """The status, and the body as it came over the wire."""
        headers = dict(self._headers)
        if path.endswith("?live"):
            path, headers["HX-Request"] = path.removesuffix("?live"), "true"
        if body:
            headers["Content-Type"] = "application/json"
        try:
            return self._asked(path, body, headers)
        except (ConnectionError, http.client.RemoteDisconnected):  # it was idle for too long
            self._connection.close()
            return self._asked(path, body, headers)

    def _asked(self, path: str, body: str, headers: dict[str, str]) -> tuple[int, bytes]:
        self._connection.request("POST" if body else "GET", path, body or None, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


class Streams:
    """Open event streams that are read by one thread."""

    def __init__(self, port: int, tokens: Sequence[str], count: int) -> None:
        self._selector = selectors.DefaultSelector()
        self.bytes = self.events = self.closed = 0
        for number in range(count):
            opened = socket.create_connection(("127.0.0.1", port))
            token = tokens[number // _STREAMS_OF_A_USER]
            opened.sendall(
                b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + f"Authorization: Bearer {token}\r\n\r\n".encode()
            )
            self._selector.register(opened, selectors.EVENT_READ)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._stop.is_set():
            for key, _ in self._selector.select(0.2):
                assert isinstance(key.fileobj, socket.socket)
                block = key.fileobj.recv(65536)
                if not block or block.startswith(b"HTTP/1.1 4"):
                    self._selector.unregister(key.fileobj)
                    self.closed += 1
                self.bytes += len(block)
                self.events += block.count(b"event: jobs")

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()


@dataclass(slots=True)
class LoadRun:
    options: argparse.Namespace
    measured: dict[str, Measured] = field(default_factory=lambda: defaultdict(Measured))
    facts: list[str] = field(default_factory=list)

    def control(self) -> None:
        """The same requests on a store of few jobs."""
        filled = filled_store(
            jobs=_CONTROL_JOBS,
            running=_CONTROL_RUNNING,
            waiting=_CONTROL_WAITING,
            cache=self.options.cache,
        )
        with self._served(filled) as (daemon, tokens, _):
            for name, (_, cpu_ms) in self._one_by_one(daemon, tokens, filled).items():
                self.measured[name].control_cpu_ms = cpu_ms
            self.facts.append(f"{_CONTROL_JOBS} jobs: {_memory(daemon)}")

    def load(self) -> None:
        options = self.options
        filled = filled_store(
            jobs=options.jobs,
            running=options.running,
            waiting=options.waiting,
            cache=options.cache,
        )
        with self._served(filled) as (daemon, tokens, slurm):
            self._first_view(daemon, tokens[0])
            self.facts.append(f"{options.jobs} jobs, just started: {_memory(daemon)}")
            for name, (alone_ms, cpu_ms) in self._one_by_one(daemon, tokens, filled).items():
                self.measured[name].alone_ms = alone_ms
                self.measured[name].cpu_ms = cpu_ms
            self.facts.append(f"no clients, {_idle(daemon)}; {_memory(daemon)}")
            streams = Streams(daemon.port, tokens, options.streams)
            with _growing_logs(filled.listed, slurm):
                self.facts.append(f"{options.streams} streams and no clients, {_idle(daemon)}")
                self._together(daemon, tokens, filled)
                self.facts.append(f"with {options.streams} streams and clients: {_memory(daemon)}")
            streams.close()
            self.facts.append(
                f"streams: {streams.events} events, {streams.bytes / 1e3:.0f} kB, "
                f"{streams.closed} closed by the server"
            )

    @contextmanager
    def _served(
        self, filled: FilledStore
    ) -> Iterator[tuple[ServedDaemon, list[str], StandInSlurm]]:
        with ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="schedmate-")))
            state = directory / "state"
            filled.copied_to(state)
            with closing(SqliteStore(state / "schedmate.sqlite3", scheduler="slurm")) as store:
                users = (account_name(), *USERS)
                tokens = [
                    create_token(
                        store, user, scope="user" if place % 4 else "operator", days=1, name="load"
                    )[1]
                    for place, user in enumerate(users[:40])
                ]
            settings = {}
            if self.options.postgres:
                url = stack.enter_context(private_postgres()).database("load")
                move_to_postgres(state / "schedmate.sqlite3", url, lambda *_: None)
                settings["SCHEDMATE_STORE_URL"] = url
            slurm = StandInSlurm(directory / "bin", nodes=NODES, script=SCRIPT)
            slurm.show(filled.listed)
            log = directory / "log"
            daemon = stack.enter_context(
                serving(state, slurm.directory, settings=settings, log=log)
            )
            page_s, at_page_s = daemon.wait_for("/"), daemon.cpu_s()
            ready_s = daemon.wait_for("/readyz")
            self.facts.append(
                f"{filled.ended + len(filled.listed)} jobs, from the start: first page after "
                f"{page_s:.2f} s ({at_page_s:.2f} s of the processor), scheduler seen after "
                f"{ready_s:.2f} s"
            )
            yield daemon, tokens, slurm
            trouble = log.read_text(errors="replace").count("Traceback")
            if trouble:
                self.facts.append(f"{trouble} tracebacks in the daemon's log")

    def _first_view(self, daemon: ServedDaemon, token: str) -> None:
        """The page with all that it loads, as it comes over the wire."""
        client = Client(daemon.port, token)
        size = 0
        _, page = client.ask("/")
        text = gzip.decompress(page) if page.startswith(b"\x1f\x8b") else page
        for path in sorted(set(re.findall(r'(?:src|href)="(/static/[^"]+)"', text.decode()))):
            size += len(client.ask(path)[1])
        whole = (size + len(page)) / 1e3
        self.facts.append(f"first view: {whole:.0f} kB, of which the page {len(page) / 1e3:.0f}")

    def _one_by_one(
        self, daemon: ServedDaemon, tokens: Sequence[str], filled: FilledStore
    ) -> dict[str, tuple[float, float]]:
        """Milliseconds of the clock and of the server's processor; what it does anyway apart."""
        client, chooser = Client(daemon.port, tokens[0]), Chooser(filled.listed, filled.ended, 1)
        anyway = _settled(daemon, self.options.idle)
        found = {}
        for route in progress(MIX, "each route alone"):
            client.ask(chooser.path(route), route.body)
            cpu, begun = daemon.cpu_s(), time.monotonic()
            times = [_asked(client, chooser, route)[0] for _ in range(_ALONE)]
            used = daemon.cpu_s() - cpu - anyway * (time.monotonic() - begun)
            found[route.name] = statistics.median(times), 1e3 * max(0.0, used) / _ALONE
        return found

    def _together(self, daemon: ServedDaemon, tokens: Sequence[str], filled: FilledStore) -> None:
        options, lock = self.options, threading.Lock()
        before, cpu, begun = _histogram(daemon), daemon.cpu_s(), time.monotonic()
        until = begun + options.seconds

        def work(number: int) -> None:
            client = Client(daemon.port, tokens[number])
            chooser = Chooser(filled.listed, filled.ended, 100 + number)
            while time.monotonic() < until:
                route = chooser.route()
                took_ms, status, size = _asked(client, chooser, route)
                with lock:
                    row = self.measured[route.name]
                    row.times_ms.append(took_ms)
                    row.size = max(row.size, size)
                    row.errors += status not in _OK and not _may_be_hidden(route, status)
                time.sleep(options.pause)

        threads = [threading.Thread(target=work, args=(one,)) for one in range(options.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took, used = time.monotonic() - begun, daemon.cpu_s() - cpu
        count = sum(len(row.times_ms) for row in self.measured.values())
        self.facts.append(
            f"{options.clients} clients, {count / took:.0f} requests a second, "
            f"{1e3 * used / count:.1f} ms of processor time each"
        )
        within = _within(before, _histogram(daemon))
        self.facts.append(f"at the server, by its own histogram: {within}")

    def show(self) -> None:
        titles = ("route", "n", "p50", "p95", "p99", "kB", "errors", "alone", "cpu", "cpu of 100")
        made = table("Milliseconds", titles)
        for route in MIX:
            row = self.measured[route.name]
            if not row.times_ms:
                continue
            times = sorted(row.times_ms)
            made.add_row(
                route.name,
                str(len(times)),
                *(f"{_quantile(times, share):.0f}" for share in (0.5, 0.95, 0.99)),
                f"{row.size / 1e3:.0f}",
                str(row.errors),
                f"{row.alone_ms:.0f}",
                f"{row.cpu_ms:.1f}",
                f"{row.control_cpu_ms:.1f}",
            )
        console().print(made)
        pages = [_p95(self.measured[one.name]) for one in MIX if one.is_page]
        print(f"the slowest page: p95 {max(pages):.0f} ms")
        print(*self.facts, sep="\n")


def _asked(client: Client, chooser: Chooser, route: Route) -> tuple[float, int, int]:
    path, begun = chooser.path(route), time.monotonic()
    status, body = client.ask(path, route.body)
    return 1e3 * (time.monotonic() - begun), status, len(body)


def _may_be_hidden(route: Route, status: int) -> bool:
    """Logs of others are not there for most of the clients, and neither is the status."""
    return status == http.HTTPStatus.NOT_FOUND and ("log" in route.path or "status" in route.path)


@contextmanager
def _growing_logs(listed: Sequence[Job], slurm: StandInSlurm) -> Iterator[None]:
    """Each running job writes a line every 20 seconds, and some jobs end and start."""
    stop = threading.Event()
    running = [job for job in listed if job.state is JobState.RUNNING]

    def write() -> None:
        turn = 0
        while not stop.wait(1.0):
            turn += 1
            for job in running[turn % 20 :: 20]:
                made = SiteJob(int(job.id), 0.0, slurm.directory)
                with Path(job.logs[0]).open("a") as log:
                    log.write(made.log_line(made.steps // 3 + turn))

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _idle(daemon: ServedDaemon, seconds: float = 40.0) -> str:
    """Longer than the daemon's look is apart from the next."""
    cpu, begun = daemon.cpu_s(), time.monotonic()
    time.sleep(seconds)
    used = 60 * (daemon.cpu_s() - cpu) / (time.monotonic() - begun)
    return f"{used:.1f} s of processor time a minute"


def _settled(daemon: ServedDaemon, seconds: float) -> float:
    """The processor's share that it takes by itself, once what follows a start is over."""
    shares: list[float] = []
    while len(shares) < _SETTLES_WITHIN and (not shares or shares[-1] > _LITTLE):
        cpu, begun = daemon.cpu_s(), time.monotonic()
        time.sleep(seconds)
        shares.append((daemon.cpu_s() - cpu) / (time.monotonic() - begun))
    return min(shares)


def _memory(daemon: ServedDaemon) -> str:
    used = daemon.usage()
    return f"{used.rss_mb:.0f} MB of memory ({used.pss_mb:.0f} PSS), {used.threads} threads"


def _histogram(daemon: ServedDaemon) -> dict[float, float]:
    """Requests that took at most so long, over all routes but the streams."""
    with closing(http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)) as connection:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    found: dict[float, float] = defaultdict(float)
    line = r'^schedmate_http_request_duration_seconds_bucket\{le="([^"]+)",route="([^"]*)"\} (\S+)'
    for limit, route, count in re.findall(line, text, re.MULTILINE):
        if "events" not in route:
            found[float(limit)] += float(count)
    return found


def _within(before: dict[float, float], after: dict[float, float]) -> str:
    counts = {limit: after[limit] - before.get(limit, 0.0) for limit in sorted(after)}
    whole = counts[float("inf")]
    shares = (f"{100 * counts[limit] / whole:.1f} % within {limit:g} s" for limit in (0.1, 0.3, 1))
    return ", ".join(shares)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _p95(row: Measured) -> float:
    return _quantile(sorted(row.times_ms), 0.95) if row.times_ms else 0.0


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--running", type=int, default=2000)
    parser.add_argument("--waiting", type=int, default=1500)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0, help="of all clients together")
    parser.add_argument("--pause", type=float, default=0.0, help="of a client after an answer")
    parser.add_argument("--idle", type=float, default=15.0, help="seconds to measure no client")
    parser.add_argument("--postgres", action="store_true", help="a store in PostgreSQL")
    parser.add_argument("--no-control", action="store_true", help="without the small store")
    parser.add_argument("--cache", type=Path, default=default_cache())
    run = LoadRun(parser.parse_args())
    print(machine(), flush=True)
    if not run.options.no_control:
        run.control()
    run.load()
    run.show()


if __name__ == "__main__":
    main()
