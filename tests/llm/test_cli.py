"""`schedmate model install|status|remove`."""

from __future__ import annotations

import json

import pytest

from schedmate.cli import main
from schedmate.testing.llm import refuses, sends, serving


@pytest.fixture(autouse=True)
def own_directories(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")


@pytest.fixture
def run(capsys):
    def run(*words):
        with pytest.raises(SystemExit) as end:
            main(["model", *map(str, words)])
        printed = capsys.readouterr()
        return end.value.code, printed.out, printed.err

    return run


@pytest.mark.parametrize("verb", ["install", "status", "remove"])
def test_help_has_examples(run, verb):
    code, out, _ = run(verb, "--help")
    assert code == 0
    assert f"Examples:\n    schedmate model {verb}" in out
    assert "--json" in out


def test_without_a_model_status_says_how_to_get_one(run):
    code, out, _ = run("status")
    assert code == 0
    assert "not installed: schedmate model install" in out
    assert "not running" in out
    facts = json.loads(run("status", "--json")[1])
    assert facts["schema"] == "schedmate.model/1"
    assert (facts["installed"], facts["digest_ok"], facts["running"]) == (False, None, False)
    assert facts["endpoint"]["kind"] == "none"
    assert facts["tokens"]["spent_in_a_day"] == 0


@pytest.mark.processes
@pytest.mark.parametrize(
    ("behaviour", "reachable", "words"),
    [(sends(b'{"data": []}'), True, "ready"), (refuses(401), False, "API_KEY")],
)
def test_status_says_whether_the_configured_endpoint_answers(
    run, monkeypatch, behaviour, reachable, words
):
    monkeypatch.setenv("SCHEDMATE_LLM__API_KEY", "my-own-secret-key")
    with serving(behaviour) as server:
        monkeypatch.setenv("SCHEDMATE_LLM__BASE_URL", server.base_url)
        facts = json.loads(run("status", "--json")[1])
        _, out, err = run("status")
    assert (facts["endpoint"]["kind"], facts["endpoint"]["reachable"]) == ("configured", reachable)
    assert words in out
    assert server.requests[0]["headers"]["Authorization"] == "Bearer my-own-secret-key"
    assert "my-own-secret-key" not in out + err + str(facts)


def test_status_of_a_model_that_is_switched_off(run, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM__ENABLED", "false")
    assert "llm.enabled" in run("status")[1]


def test_status_shows_how_far_an_interrupted_install_came(run, tmp_path):
    partial = tmp_path / "cache/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf.partial"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(bytes(3_000_000))
    assert "3 MB are there" in run("status")[1]
    assert json.loads(run("remove", "--json")[1])["freed_bytes"] == 3_000_000


@pytest.mark.parametrize(
    ("content", "code"), [(b"not a model", 2), (None, 3)], ids=["wrong file", "no file"]
)
def test_a_wrong_file_is_one_sentence_and_an_exit_code(run, tmp_path, content, code):
    path = tmp_path / "mine.gguf"
    if content is not None:
        path.write_bytes(content)
    ended, out, err = run("install", "--from", path)
    assert (ended, out) == (code, "")
    assert err.startswith("schedmate: ")
    assert str(path) in err


def test_remove_without_a_model_is_no_failure(run):
    assert run("remove")[:2] == (0, "there was no model to remove\n")


@pytest.mark.embedded
def test_install_status_remove_with_the_real_file(run, model_file):
    code, out, err = run("install", "--from", model_file, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["bytes"] == 1_117_320_768
    facts = json.loads(run("status", "--json")[1])
    assert (facts["installed"], facts["digest_ok"]) == (True, True)
    assert facts["endpoint"] == {"kind": "embedded", "reachable": True, "problem": None}
    assert "already installed" in run("install")[1]
    assert "1117 MB freed" in run("remove")[1]
    assert model_file.exists()
