"""The local scheduler keeps the contract of all schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedmate.config import LocalSettings
from schedmate.schedulers.local import LocalScheduler
from schedmate.testing.scheduler_contract import SchedulerContract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.schedulers.base import Scheduler


@pytest.mark.processes
class TestLocal(SchedulerContract):
    """On two GPUs of which nothing but their names is known."""

    slots = 2
    several_nodes = True

    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
        locks = str(tmp_path_factory.mktemp("locks"))
        settings = LocalSettings(gpus=("0-1",), lock_dir=locks, kill_wait_s=0.5, poll_s=0.05)
        local = LocalScheduler(tmp_path_factory.mktemp("local"), settings)
        yield local
        local.stop()
