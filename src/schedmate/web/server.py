"""Serves the application beside the daemon's loop, in threads of the same process."""

from __future__ import annotations

import logging
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import uvicorn

from schedmate.model import SchedMateError
from schedmate.service.wiring import open_store
from schedmate.web.app import create_app
from schedmate.web.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.config import Settings

_log = logging.getLogger("schedmate.web")
_STARTS_WITHIN_S = 30.0
_ENDS_WITHIN_S = 5.0
_MOST_CONNECTIONS = 1000
"""Far below what a daemon may open, which needs files for its own work."""


@contextmanager
def serving(settings: Settings, *, host: str, port: int) -> Iterator[Site]:
    """The pages are there from the beginning of this context to its end."""
    stop = threading.Event()
    with closing(open_store(settings)) as store:
        site = Site.of(settings, store)
        config = uvicorn.Config(
            create_app(site),
            host=host,
            port=port,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            limit_concurrency=_MOST_CONNECTIONS,
            server_header=False,
        )
        server = _Server(config)
        threads = [
            threading.Thread(target=site.keep_fresh, args=(stop,), name="board", daemon=True),
            threading.Thread(target=server.run, name="web", daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            server.wait_until_started(host, port)
            yield site
        finally:
            stop.set()
            server.should_exit = True
            for thread in threads:
                thread.join(_ENDS_WITHIN_S)


class _Server(uvicorn.Server):
    """The signals belong to the daemon's loop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.failed = threading.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def run(self, *_: object) -> None:
        try:
            super().run()
        except SystemExit:  # the address is in use, which uvicorn has logged
            pass
        finally:
            self.failed.set()

    def wait_until_started(self, host: str, port: int) -> None:
        for _ in range(int(_STARTS_WITHIN_S / 0.02)):
            if self.started:
                return
            if self.failed.wait(0.02):
                break
        raise SchedMateError(
            f"{host}:{port} cannot be listened on; is another server there? Try another --port"
        )
