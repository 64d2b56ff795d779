"""What an operator reads before the daemon runs, and again when SIGHUP changes the settings."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.config import (
    HangSettings,
    LlmSettings,
    ScopeSettings,
    Settings,
    SlurmSettings,
)
from schedmate.disk.lock import hold, sign
from schedmate.model import NodeState, SchedulerUnreachable
from schedmate.schedulers.base import Rights
from schedmate.service import start_warnings as module
from schedmate.service.daemon.serving import reread_settings
from schedmate.service.start_warnings import start_warnings
from schedmate.service.usecases import checkup
from schedmate.site_settings import MailSettings, WebSettings
from schedmate.testing.scheduler import FakeScheduler


class Site(FakeScheduler):
    def rights(self):
        return Rights(everyone=False, role="ordinary user")


@pytest.fixture
def scheduler(monkeypatch):
    made = Site()
    for name, partitions in (("n1", ("gpu", "try")), ("n2", ("cpu",))):
        made.node_states[name] = NodeState(name=name, partitions=partitions)
    for place in (module, checkup):
        monkeypatch.setattr(place, "open_scheduler", lambda _: made)
    return made


NAMED = Settings(
    scope=ScopeSettings(canary_partitions=("try", "tyr"), exclude_partitions=("cpus",)),
    hang=HangSettings(partitions={"gpu": 30.0, "GPU": 60.0}),
)


def test_partitions_that_the_scheduler_does_not_have_are_named(scheduler):
    assert start_warnings(NAMED) == [
        "scope.canary_partitions: fake has no node in partition tyr; it has cpu, gpu, try",
        "scope.exclude_partitions: fake has no node in partition cpus; it has cpu, gpu, try",
        "hang.partitions: fake has no node in partition GPU; it has cpu, gpu, try",
    ]
    found = checkup._scope(NAMED)
    assert (found.state, found.fix) == ("note", "; ".join(start_warnings(NAMED)))
    assert checkup._scope(Settings()).state == "ok"


def test_secrets_that_every_account_can_read_are_named(scheduler, tmp_path):
    """Also while the scheduler is down."""
    scheduler.trouble = SchedulerUnreachable("away")
    files = {name: tmp_path / name for name in ("token", "slurm", "llm", "mail", "key")}
    for file in files.values():
        file.write_text("secret")
        file.chmod(0o644)
    settings = Settings(
        token_file=files["token"],
        slurm=SlurmSettings(rest_token_file=files["slurm"]),
        llm=LlmSettings(api_key_file=files["llm"]),
        mail=MailSettings(password_file=files["mail"]),
        web=WebSettings(key=files["key"]),
    )
    names = ("token_file", "slurm.rest_token_file", "llm.api_key_file", "mail.password_file")
    assert start_warnings(settings) == [
        f"{name} {file} can be read by every account: chmod 600 {file}"
        for name, file in zip((*names, "web.key"), files.values(), strict=True)
    ]
    for file in files.values():
        file.chmod(0o640)
    files["mail"].unlink()
    assert start_warnings(settings) == []


def test_a_queue_without_partitions_and_one_that_is_down_warn_of_nothing(scheduler):
    scheduler.node_states["n1"] = scheduler.node_states["n2"] = NodeState(name="n1")
    assert start_warnings(NAMED) == []
    scheduler.trouble = SchedulerUnreachable("away")
    assert start_warnings(NAMED) == []


def test_settings_that_are_read_again_warn_as_those_of_a_start_do(scheduler, caplog):
    before = Settings(mode="observe")
    new = replace(before, mode="act")

    with caplog.at_level(logging.WARNING):
        reread_settings(before, lambda: new)
        again = len(caplog.messages)
        reread_settings(new, lambda: new)

    assert caplog.messages == start_warnings(new)
    assert any(one.startswith("ordering is switched off: ") for one in caplog.messages)
    assert again == len(caplog.messages), "unchanged settings are no news"


def test_a_second_daemon_states_who_serves_before_anything_else(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("SCHEDMATE_MODE", "act")
    with hold(tmp_path / "serve.lock") as lock:
        sign(lock)
        done = CliRunner().invoke(root, ["serve"])
        dry = CliRunner().invoke(root, ["serve", "--dry-run", "--once"])
    assert done.output == ""
    assert str(done.exception).startswith(f"a daemon is serving {tmp_path} already (process ")
    assert dry.exit_code == 0
