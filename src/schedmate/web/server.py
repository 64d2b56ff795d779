"""Serves the application beside the daemon's loop, in threads of the same process."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import threading
from contextlib import closing, contextmanager, suppress
from functools import partial
from os.path import samestat
from typing import TYPE_CHECKING

import uvicorn

from schedmate.model import BadInput, SchedMateError
from schedmate.service.usecases.tokens import has_valid_token
from schedmate.service.wiring import open_store
from schedmate.web import stream
from schedmate.web.access import is_loopback
from schedmate.web.app import SECURITY_HEADERS, create_app
from schedmate.web.connections import Connection, Handshake
from schedmate.web.site import Site
from schedmate.web.waiting import WaitingConnections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from schedmate.config import Settings
    from schedmate.store import Store

_log = logging.getLogger("schedmate.web")
_STARTS_WITHIN_S = 300.0
_ENDS_WITHIN_S = 5.0
_ANSWERS_WITHIN_S, _CANCELS_AFTER_S = 1.0, 3
"""At the end: requests that are still being answered then."""
_PROBE_S = 3.0
_QUEUED = 1000
"""Connections that are accepted together."""
_FILES = 4096
"""That a daemon may open where it is allowed to; half of them are for connections."""


@contextmanager
def serving(settings: Settings, *, host: str, port: int | None) -> Iterator[Site]:
    """The pages are there from the beginning of this context to its end."""
    stop = threading.Event()
    most_connections = _allow_files() // 2
    with closing(open_store(settings)) as store:
        check_access(settings, store, host, port)
        site = Site.of(settings, store)
        app = create_app(site)
        web = settings.web
        proxies = (*web.proxies, *web.proxy_accounts) if web.proxy_header else ()
        waiting = WaitingConnections(proxies)
        config = uvicorn.Config(
            app,
            http=partial(Connection, waiting),  # type: ignore[arg-type] # called as a class is
            log_config=None,  # the daemon's own log has its lines
            log_level="error",  # what strangers send must not fill the log
            access_log=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_CANCELS_AFTER_S,
            limit_concurrency=most_connections,
            backlog=_QUEUED,
            server_header=False,
            headers=list(SECURITY_HEADERS.items()),
            ssl_certfile=web.certificate,
            ssl_keyfile=web.key,
        )
        with _listening(host, port) as tcp, _unix_socket(web.socket) as unix:
            site.begin()
            server = _Server(config, tcp, unix, waiting, partial(stream.end_all, app))
            threads = [
                threading.Thread(target=site.keep_fresh, args=(stop,), name="board", daemon=True),
                threading.Thread(target=server.run, name="web", daemon=True),
            ]
            for thread in threads:
                thread.start()
            try:
                server.wait_until_started()
                yield site
            finally:
                stop.set()
                server.should_exit = True
                for thread in threads:
                    thread.join(_ENDS_WITHIN_S)


def _allow_files() -> int:
    """As many as this process may open, up to what is enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def check_access(settings: Settings, store: Store, host: str, port: int | None) -> None:
    """Beyond this machine only those are let in who prove who they are."""
    web = settings.web
    if (web.certificate is None) != (web.key is None):
        raise BadInput("web.certificate and web.key belong together: name both or none")
    proxied = web.proxy_header and (web.proxies or web.proxy_accounts)
    if web.proxy_header and not proxied:
        raise BadInput(
            "web.proxy_header needs web.proxies or web.proxy_accounts: whose word counts?"
        )
    if port is None or is_loopback(host) or host == "localhost":
        return
    if not proxied and not has_valid_token(store):
        raise SchedMateError(
            f"{host} is reachable from other machines, and no one could sign in there: first make "
            "a token (schedmate token create), or trust a proxy (web.proxy_header)"
        )
    if web.certificate is None and not proxied:
        _log.warning(
            "%s is served without TLS: tokens can be read on the way (web.certificate)", host
        )


@contextmanager
def _listening(host: str, port: int | None) -> Iterator[list[socket.socket]]:
    if port is None:
        yield []
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        _log.debug("%s", error)
        raise SchedMateError(
            f"{host}:{port} cannot be listened on; is another server there? Try another --port"
        ) from error
    with listener:
        yield [listener]


@contextmanager
def _unix_socket(path: Path | None) -> Iterator[socket.socket | None]:
    """Everyone may connect: the kernel names who does."""
    if path is None:
        yield None
        return
    if not path.parent.is_dir():
        raise SchedMateError(f"web.socket {path}: there is no directory {path.parent}; make it")
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            _remove_stale(path)
            listener.bind(str(path))
            ours = path.stat()
            path.chmod(0o666)
            listener.listen(_QUEUED)
        except OSError as error:
            raise SchedMateError(f"web.socket {path} cannot be listened on: {error}") from error
        try:
            yield listener
        finally:
            with suppress(OSError):
                if samestat(path.stat(), ours):
                    path.unlink()


def _remove_stale(path: Path) -> None:
    """The socket of a daemon that was killed; one where a process listens is left alone."""
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except TimeoutError:  # its queue of connections is full
            pass
    raise SchedMateError(
        f"another process listens on web.socket {path}: stop it, or set another path"
    )


class _Server(uvicorn.Server):
    """The signals belong to the daemon's loop."""

    def __init__(
        self,
        config: uvicorn.Config,
        tcp: list[socket.socket],
        unix: socket.socket | None,
        waiting: WaitingConnections,
        end_streams: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._tcp, self._unix, self._end_streams = tcp, unix, end_streams
        self._waiting = waiting
        self.failed = threading.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def run(self, *_: object) -> None:
        try:
            super().run(self._tcp)
        except SystemExit:  # the application did not start, which uvicorn has logged
            pass
        finally:
            self.failed.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """TLS begins after a connection is counted; the unix socket is without it."""
        tls = self.config.ssl
        await super().startup([] if tls is not None else sockets)
        loop = asyncio.get_running_loop()
        if tls is not None:
            for sock in sockets or ():
                listener = await loop.create_server(
                    lambda: Handshake(self._waiting, tls, self._connection),
                    sock=sock,
                    backlog=_QUEUED,
                )
                self.servers.append(listener)
        if self._unix is not None:
            listener = await loop.create_unix_server(
                self._connection, sock=self._unix, backlog=_QUEUED
            )
            self.servers.append(listener)

    def _connection(self) -> Connection:
        return Connection(self._waiting, self.config, self.server_state, self.lifespan.state)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        late = asyncio.get_running_loop().call_later(_ANSWERS_WITHIN_S, self._hang_up)
        await super().shutdown(sockets)
        late.cancel()

    def _hang_up(self) -> None:
        """A request whose client is gone ends quietly, one that is cancelled with a traceback."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    def wait_until_started(self) -> None:
        for _ in range(int(_STARTS_WITHIN_S / 0.02)):
            if self.started:
                return
            if self.failed.wait(0.02):
                break
        raise SchedMateError("the pages cannot be served; the log above has the reason")
