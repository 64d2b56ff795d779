"""What can go wrong with the model's server before it serves; no real model needed."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
import time

import pytest
from pydantic import BaseModel

from schedmate.config import LlmSettings
from schedmate.disk.lock import locked
from schedmate.llm import open_asker
from schedmate.llm.asker import ModelAsker
from schedmate.llm.embedded.files import Manifest, ModelFiles
from schedmate.llm.embedded.process import EmbeddedEndpoint, stop
from schedmate.llm.embedded.running import RunFiles, ServerState
from schedmate.model import ModelUnavailable
from schedmate.testing.llm import MemoryLedger

FAKE = Manifest(
    name="fake",
    file_name="fake.gguf",
    size=9,
    sha256="0" * 64,
    part_size=9,
    package="fake",
    version="1",
)


class Reply(BaseModel):
    line: int


@pytest.fixture
def files(tmp_path):
    files = ModelFiles(tmp_path / "cache", FAKE)
    files.folder.mkdir(parents=True)
    files.model.write_bytes(b"no model!")
    yield files
    stop(files.cache_dir)


def ask(files, ledger, **settings):
    llm = LlmSettings(deadline_s=20.0, **settings)
    asker = ModelAsker(EmbeddedEndpoint(files, llm), llm, ledger)
    return asker.ask(Reply, "?", purpose="test")


@pytest.mark.processes
def test_a_file_that_cannot_be_loaded_is_an_unavailable_model(files):
    ledger = MemoryLedger()
    with pytest.raises(ModelUnavailable, match="server"):
        ask(files, ledger)
    assert [(call.outcome, call.calls) for call in ledger.calls] == [("unavailable", 0)]
    assert not RunFiles.of(files.cache_dir).is_alive()


def test_a_missing_runtime_is_reported_with_the_command_that_mends_it(files, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else found(name)
    )
    with pytest.raises(ModelUnavailable, match=r"pip install '.\[embedded\]'"):
        ask(files, MemoryLedger())


def test_a_missing_client_library_is_reported_too(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    settings = LlmSettings(base_url="http://127.0.0.1:1/v1")
    asker = open_asker(settings, cache_dir=files.cache_dir, ledger=MemoryLedger())
    with pytest.raises(ModelUnavailable, match=r"pip install '.\[llm\]'"):
        asker.ask(Reply, "?", purpose="test")


def test_a_cache_directory_that_is_none_is_an_unavailable_model(files):
    (files.cache_dir / "run").write_text("a file where a folder should be")
    with pytest.raises(ModelUnavailable, match="cannot be started"):
        ask(files, MemoryLedger())
    (files.cache_dir / "run").unlink()


def test_the_state_is_private_and_comes_back(tmp_path):
    run = RunFiles(tmp_path / "run")
    run.prepare()
    state = ServerState(1, 2, "k")
    run.write_state(state)
    assert run.state() == state
    assert run.ready_state() is None, "no process holds the lock of a live server"
    assert [oct(path.stat().st_mode)[-3:] for path in run.folder.iterdir()] == ["600"]
    assert oct(run.folder.stat().st_mode)[-3:] == "700"
    assert "'k'" not in repr(state)


@pytest.mark.processes
def test_a_server_is_ready_while_it_lives_and_takes_calls(tmp_path):
    run = RunFiles(tmp_path / "run")
    run.prepare()
    with socket.create_server(("127.0.0.1", 0)) as server:
        run.write_state(ServerState(1, server.getsockname()[1], "k"))
        assert run.ready_state() is None
        with locked(run.alive_lock, lambda: 1.0):
            assert run.ready_state() == run.state()
    with locked(run.alive_lock, lambda: 1.0):
        assert run.ready_state() is None, "its port is gone: it is dying"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": 1, "what": 2}', b"\xff"])
def test_a_state_file_that_is_none_is_no_state(tmp_path, content):
    (tmp_path / "server.json").write_bytes(content)
    assert RunFiles(tmp_path).state() is None


def test_a_server_retires_only_when_no_client_came_meanwhile(tmp_path):
    run = RunFiles(tmp_path)
    run.write_state(ServerState(1, 2, "k"))
    run.touch()
    assert not run.retire(idle_s=60)
    os.utime(tmp_path / "used", (time.time() - 100,) * 2)
    assert run.retire(idle_s=60)
    assert run.state() is None
