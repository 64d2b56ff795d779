"""SIGHUP: settings are read again and logs reopened; a store that fails is waited for."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from dataclasses import replace

import pytest

from schedmate.model import BadInput, StoreUnavailable
from schedmate.service.daemon import assembling, serving
from schedmate.service.daemon.log_output import LogFile, reopen_logs
from schedmate.service.daemon.signals import Signals, handled_signals, notify


def served(place, monkeypatch, looks, reread=None):
    """Run the loop with a list of things to happen, one a look; the last one ends it."""
    signals, begun = Signals(), []
    monkeypatch.setattr(serving, "poll_seconds", lambda _: 0.01)
    monkeypatch.setattr(serving, "_STORE_PAUSE_S", 0.01)
    real = assembling.Daemon

    class Acting(real):
        def __init__(self, **parts):
            begun.append(parts["settings"])
            super().__init__(**parts)

        def cycle(self, now):
            happens = looks.pop(0)
            happens(signals)
            if not looks:
                signals.stop()

    monkeypatch.setattr(assembling, "Daemon", Acting)
    serving.serve(place.settings, signals, reread)
    return begun


def ask(signals):
    signals.reread()


def nothing(signals):
    pass


def test_new_settings_count_from_the_next_look(place, monkeypatch, caplog):
    new = replace(place.settings, retries=7)
    with caplog.at_level(logging.INFO):
        begun = served(place, monkeypatch, [nothing, ask, nothing], lambda: new)
    assert [one["retries"] for one in begun] == ["2", "7"]
    assert "settings were read again" in caplog.text


@pytest.mark.parametrize("wrong", ["file", "state_dir"])
def test_settings_that_cannot_be_used_leave_the_old_ones(place, monkeypatch, caplog, wrong):
    def reread():
        if wrong == "file":
            raise BadInput("the settings in x cannot be read: line 1")
        return replace(place.settings, state_dir=place.root / "elsewhere")

    begun = served(place, monkeypatch, [ask, nothing], reread)
    assert len(begun) == 1
    lines = [one.getMessage() for one in caplog.records if one.name == "schedmate.serve"]
    assert len(lines) == 1
    assert lines[0].startswith("the settings stay as they were: ")


def test_a_store_that_fails_is_one_line_a_minute_and_a_new_daemon_afterwards(
    place, monkeypatch, caplog
):
    broken = [True] * 5

    def fail(signals):
        raise StoreUnavailable("the database x failed: disk is full")

    def check(self):
        if broken:
            broken.pop()
            raise StoreUnavailable("the database x failed: disk is full")

    monkeypatch.setattr("schedmate.store.sqlite.SqliteStore.check_writable", check)
    begun = served(place, monkeypatch, [nothing, fail, nothing, fail, nothing])
    assert len(begun) == 3
    assert caplog.text.count("nothing is decided or done") == 1
    assert caplog.text.count("the store can be written to again") == 1
    assert "Traceback" not in caplog.text


def test_signals_set_flags_and_end_a_wait(place):
    before = signal.getsignal(signal.SIGHUP)
    with handled_signals() as signals:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGHUP)).start()
        signals.wait(60)
        assert (signals.rereading, signals.stopping) == (True, False)
        os.kill(os.getpid(), signal.SIGTERM)
        signals.wait(60)
        assert signals.stopping
    assert signal.getsignal(signal.SIGHUP) is before


def test_a_log_file_is_private_bounded_and_reopened(tmp_path):
    path = tmp_path / "serve.log"
    handler = LogFile(path, longest=1000)
    log = logging.getLogger("schedmate.test")
    logging.getLogger().addHandler(handler)
    try:
        log.warning("first")
        path.rename(tmp_path / "moved.log")
        reopen_logs()
        log.warning("second")
        assert path.stat().st_mode & 0o077 == 0
        assert path.read_text() == "second\n"
        for _ in range(500):
            log.warning("x" * 80)
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    sizes = [one.stat().st_size for one in tmp_path.glob("serve.log*")]
    assert len(sizes) == 4
    assert max(sizes) <= 1000


def test_a_service_manager_is_notified(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        notify("READY=1")
        assert listening.recv(100) == b"READY=1"
    notify("WATCHDOG=1")  # one that is gone is no error
