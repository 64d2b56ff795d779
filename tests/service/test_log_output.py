"""The daemon's own log: a line for people, or one JSON object a line; never a secret."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate.model import Action
from schedmate.service.daemon.log_output import JsonLines, TextLines

KEY = "sk-abcdefghijklmnopqrstuvwxyz"
SOURCE = Path(__file__).parents[2] / "src"


def record(text, *args, **extra):
    made = logging.LogRecord("schedmate.serve", logging.WARNING, "", 1, text, args, None)
    made.__dict__.update(extra)
    return made


def raised():
    try:
        int(f"no access with {KEY}")
    except ValueError:
        return sys.exc_info()


def test_a_json_line_has_named_fields():
    action = Action(kind="requeue", job_id="12", attempt=0, why="gpu_lost")
    line = JsonLines().format(record("%s: %s", action.key, action.why, **action.about))
    found = json.loads(line)
    assert found.pop("time").endswith("Z")
    assert found == {
        "level": "warning",
        "logger": "schedmate.serve",
        "event": "12:0:requeue: gpu_lost",
        "job": "12",
        "action": "requeue",
    }


@pytest.mark.parametrize("form", [JsonLines(), TextLines("%(name)s %(message)s")])
def test_no_line_has_a_secret_or_begins_another(form):
    made = record("job %s\nschedmate.serve forged \x1b[2J", KEY)
    made.exc_info = raised()
    text = form.format(made)
    assert KEY not in text
    assert "\x1b" not in text
    assert not any(line.startswith("schedmate.serve forged") for line in text.splitlines())
    if isinstance(form, JsonLines):
        assert "\n" not in text
        assert "ValueError" in json.loads(text)["error"]


@pytest.mark.processes
@pytest.mark.parametrize("how", ["option", "setting"])
def test_every_line_of_a_serving_daemon_is_an_object(tmp_path, how):
    env = {name: value for name, value in os.environ.items() if "SCHEDMATE" not in name}
    env |= {"PYTHONPATH": str(SOURCE), "SCHEDMATE_STATE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    words = ["--log-format", "json"] if how == "option" else []
    env |= {"SCHEDMATE_LOG_FORMAT": "json"} if how == "setting" else {}
    env["SCHEDMATE_WEB__SOCKET"] = str(tmp_path / "api.sock")
    daemon = subprocess.Popen(
        [sys.executable, "-m", "schedmate", "serve", *words],
        env=env,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "api.sock").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
    finally:
        daemon.send_signal(signal.SIGTERM)
        _, written = daemon.communicate(timeout=120)
    lines = [json.loads(line) for line in written.splitlines()]
    events = [one["event"] for one in lines]
    assert "serving local in mode observe" in events
    assert any(event.startswith("users of this machine ask at unix:") for event in events)
    assert all({"time", "level", "logger", "event"} <= set(one) for one in lines)
