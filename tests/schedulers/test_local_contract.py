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
    slots = 2

    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
        settings = LocalSettings(slots=cls.slots, kill_wait_s=0.5, poll_s=0.05)
        local = LocalScheduler(tmp_path_factory.mktemp("local"), settings)
        yield local
        local.stop()
