"""A place of the demo's own: nothing of the user's or the site's is touched but a model's cache."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import schedmate
from schedmate.config import HangSettings, LlmSettings, LocalSettings, Settings
from schedmate.model import NotFound
from schedmate.model.extras import is_there, needs

_SLOTS = 2
_HANG_MINUTES = 0.05
"""A site waits for half an hour; a demo has no time for that."""
_MODEL_DEADLINE_S = 170.0
"""Two jobs on two cores leave the model little, and it should leave them much."""


@dataclass(frozen=True, slots=True)
class Stage:
    """`root` holds the queue, the history and the logs."""

    root: Path
    settings: Settings

    @property
    def workdir(self) -> Path:
        return self.root / "work"

    @property
    def slots(self) -> int:
        return _SLOTS

    @property
    def environment(self) -> dict[str, str]:
        """For what is started beside the jobs: these settings, and none of the user's."""
        own, llm = self.settings, self.settings.llm
        theirs = {name: v for name, v in os.environ.items() if not name.startswith("SCHEDMATE_")}
        stated = {
            "CONFIG": os.devnull,
            "STATE_DIR": own.state_dir,
            "CACHE_DIR": own.cache_dir,
            "SCHEDULER": own.scheduler,
            "MODE": own.mode,
            "LOCAL__SLOTS": own.local.slots,
            "LOCAL__KILL_WAIT_S": own.local.kill_wait_s,
            "HANG__MINUTES": own.hang.minutes,
            "HANG__REQUEUE": own.hang.requeue,
            "LLM__ENABLED": llm.enabled,
            "LLM__BASE_URL": llm.base_url,
            "LLM__MODEL": llm.model,
            "LLM__API_KEY": llm.api_key and llm.api_key.reveal(),
            "LLM__API_KEY_FILE": llm.api_key_file,
            "LLM__DEADLINE_S": llm.deadline_s,
            "LLM__THREADS": llm.threads,
        }
        ours = {f"SCHEDMATE_{name}": str(v) for name, v in stated.items() if v is not None}
        return theirs | ours


def set_stage(user: Settings | None = None) -> Stage:
    """`user` are the settings of the user whose model is asked; None: no model is."""
    if not is_there("tqdm"):
        raise NotFound(needs("the demo's training jobs need", "tqdm"))
    examples = _examples()
    root = Path(tempfile.mkdtemp(prefix="schedmate-demo-"))
    own = Settings(
        scheduler="local",
        mode="act",
        state_dir=root,
        cache_dir=root / "cache" if user is None else user.cache_dir,
        local=LocalSettings(slots=_SLOTS, kill_wait_s=2.0),
        hang=HangSettings(minutes=_HANG_MINUTES, requeue=True),
        llm=LlmSettings(enabled=False)
        if user is None
        else replace(user.llm, enabled=True, deadline_s=_MODEL_DEADLINE_S, threads=1),
    )
    try:
        shutil.copytree(examples, root / "work", ignore=shutil.ignore_patterns("__pycache__"))
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        raise
    return Stage(root, own)


def page_port() -> int:
    """A free port for the demo's page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_page(port: int, *, within_s: float = 120.0) -> bool:
    """Until the page can be opened: it is announced when a click on its address shows it."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        time.sleep(0.1)
    return False


def _examples() -> Path:
    package = Path(schedmate.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if folder.is_dir():
            return folder
    raise NotFound("the example jobs are missing from this installation; install it again")
