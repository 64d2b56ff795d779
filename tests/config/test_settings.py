"""Settings come from the environment, the user's file and the site's, in this order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedmate import config
from schedmate.model import BadInput
from schedmate.service.start_warnings import start_warnings
from schedmate.service.usecases.checkup import run_checks


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    for name in os.environ:
        if name.startswith("SCHEDMATE_"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(config, "SITE_FILE", tmp_path / "site.toml")
    monkeypatch.setenv("SCHEDMATE_CONFIG", str(tmp_path / "user.toml"))
    (tmp_path / "user.toml").touch()


def test_nothing_is_done_unless_somebody_says_so():
    settings = config.load()
    assert (settings.mode, settings.scheduler, settings.llm.base_url) == ("observe", "local", None)


def test_a_variable_beats_the_users_file_which_beats_the_sites(tmp_path, monkeypatch):
    (tmp_path / "site.toml").write_text('mode = "assist"\nretries = 1\n[local]\nslots = 3\n')
    (tmp_path / "user.toml").write_text("retries = 5\n")
    monkeypatch.setenv("SCHEDMATE_LOCAL__SLOTS", "7")
    settings = config.load()
    assert (settings.mode, settings.retries, settings.local.slots) == ("assist", 5, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode = 'destroy'", "setting mode in .*user.toml: "),
        ("modus = 'act'", "setting modus in .*user.toml: "),
        ("[llm]\ndeadline_s = 0", "setting llm.deadline_s in .*user.toml: "),
        ("[llm]\nbaseurl = 'x'", "setting llm.baseurl in .*user.toml: "),
        ("this is no TOML", "user.toml cannot be read"),
        ("[gpus]\nfast = 7", "setting gpus.fast in .*: must be a text or a table of tflops"),
        ("[gpus]\nfast = { tflops = 0 }", "setting gpus.fast.tflops in .*: must be more than 0"),
        (
            "[gpus]\nfast = { flops = 1 }",
            "setting gpus.fast.flops in .*: no such setting; is tflops meant",
        ),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(tmp_path, text, said):
    (tmp_path / "user.toml").write_text(text)
    with pytest.raises(BadInput, match=said) as raised:
        config.load()
    assert "\n" not in str(raised.value)


def test_a_file_that_was_named_has_to_be_there(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(BadInput, match=r"SCHEDMATE_CONFIG names .*none.toml, which is not there"):
        config.load()


def test_a_misspelt_variable_is_not_passed_over(monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LOKAL__SLOTS", "2")
    with pytest.raises(BadInput, match="SCHEDMATE_LOKAL__SLOTS is no setting; is SCHEDMATE_LOCAL"):
        config.load()


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("SCHEDMATE_LLM_BASE_URL", "SCHEDMATE_LLM__BASE_URL"),
        ("SCHEDMATE_WEB_SOCKET", "SCHEDMATE_WEB__SOCKET"),
        ("SCHEDMATE_LOCAL_SLOTS", "SCHEDMATE_LOCAL__SLOTS"),
        ("SCHEDMATE_STATEDIR", "SCHEDMATE_STATE_DIR"),
        ("SCHEDMATE_STATE__DIR", "SCHEDMATE_STATE_DIR"),
    ],
)
def test_a_setting_divided_otherwise_is_refused_with_its_name(monkeypatch, variable, meant):
    monkeypatch.setenv(variable, "x")
    with pytest.raises(BadInput, match=f"{variable} is no setting; is {meant} meant"):
        config.load()


def test_a_variable_that_sets_nothing_is_warned_of_with_the_nearest_setting(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("SCHEDMATE_SOCKETS", "/run/x.sock")
    warning = "SCHEDMATE_SOCKETS is no setting and is ignored; is SCHEDMATE_WEB__SOCKET meant?"
    assert warning in start_warnings(config.load())
    [settings] = [one for one in run_checks(config.load()) if one.part == "settings"]
    assert (settings.state, settings.fix) == ("note", warning)


@pytest.mark.parametrize(
    "name", ["WEB__SOCKET", "STATE_DIR", "CONFIG", "JOB_ID", "RESTART_COUNT", "DATA", "TEST_SECRET"]
)
def test_a_known_variable_is_not_warned_of(monkeypatch, tmp_path, name):
    monkeypatch.setenv(f"SCHEDMATE_{name}", str(tmp_path))
    assert config.unknown_variables() == []


@pytest.mark.parametrize(
    "name",
    ["JOB_ID", "JOB_NAME", "RESTART_COUNT", "SLOTS", "ATTEMPT", "DATA", "DEBUG", "TEST_MODEL"],
)
def test_the_variables_of_jobs_and_tests_are_no_misspelt_settings(monkeypatch, name):
    monkeypatch.setenv(f"SCHEDMATE_{name}", "1")
    config.load()


def test_a_key_is_never_shown(monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM__API_KEY", "very-secret")
    assert "very-secret" not in repr(config.load())


def test_sections_are_put_together_setting_by_setting(tmp_path, monkeypatch):
    (tmp_path / "site.toml").write_text('[llm]\nmodel = "site"\nthreads = 3\nidle_s = 9\n')
    (tmp_path / "user.toml").write_text('[llm]\nmodel = "user"\nthreads = 4\n')
    monkeypatch.setenv("SCHEDMATE_LLM__THREADS", "5")

    llm = config.load().llm

    assert (llm.model, llm.threads, llm.idle_s) == ("user", 5, 9)


def test_a_section_may_be_json_and_a_variable_in_lower_case(monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM", '{"model": "json", "threads": 3}')
    monkeypatch.setenv("schedmate_llm__idle_s", "7")

    llm = config.load().llm

    assert (llm.model, llm.threads, llm.idle_s) == ("json", 3, 7)


def test_a_text_may_begin_like_json(monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM__API_KEY", "[not json")

    assert config.load().llm.api_key.reveal() == "[not json"


def test_an_unknown_setting_of_a_section_is_named(monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM__MODDEL", "x")

    with pytest.raises(BadInput, match=r"^SCHEDMATE_LLM__MODDEL: "):
        config.load()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SCHEDMATE_NICE_RANGE", "-5"),
        ("SCHEDMATE_MODE", "brave"),
        ("SCHEDMATE_LLM__DEADLINE_S", "0"),
        ("SCHEDMATE_LLM", '{"deadline_s": 0}'),
        ("SCHEDMATE_LLM", "5"),
        ("SCHEDMATE_LLM__MODEL__NAME", "x"),
        ("SCHEDMATE_HANG__PARTITIONS", '{"gpu": 0}'),
        ("schedmate_retries", "many"),
        ("SCHEDMATE_STATE_DIR", ""),
    ],
)
def test_a_wrong_variable_is_blamed_and_no_file(tmp_path, monkeypatch, variable, value):
    (tmp_path / "user.toml").write_text("retries = 5\n[llm]\nthreads = 4\n")
    monkeypatch.setenv(variable, value)

    with pytest.raises(BadInput, match=f"^{variable}: ") as raised:
        config.load()

    assert "toml" not in str(raised.value)


def test_a_wrong_line_is_blamed_on_the_file_that_has_it(tmp_path, monkeypatch):
    (tmp_path / "user.toml").write_text("retries = 5\n[llm]\nthreads = 4\n")
    (tmp_path / "site.toml").write_text("nice_range = -5\n[llm]\nidle_s = 9\n")
    monkeypatch.setenv("SCHEDMATE_LLM__MODEL", "x")

    with pytest.raises(BadInput, match=r"^setting nice_range in .*site\.toml: "):
        config.load()

    (tmp_path / "site.toml").write_text("[llm]\nidle_s = 0\n")
    with pytest.raises(BadInput, match=r"^setting llm\.idle_s in .*site\.toml: "):
        config.load()

    (tmp_path / "site.toml").write_text("no TOML")
    with pytest.raises(BadInput, match=r"site\.toml cannot be read"):
        config.load()


@pytest.mark.parametrize(
    ("variable", "value", "read"),
    [
        ("RETRIES", "4.0", 4),
        ("LONGEST_WAIT_S", "inf", float("inf")),
        ("LONGEST_WAIT_S", "3", 3.0),
        ("NICE_RANGE", " 70 ", 70),
        ("STATE_DIR", "/tmp/x", Path("/tmp/x")),
    ],
)
def test_a_variables_text_becomes_a_value_of_the_settings_type(monkeypatch, variable, value, read):
    monkeypatch.setenv(f"SCHEDMATE_{variable}", value)

    found = getattr(config.load(), variable.lower())

    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(("word", "read"), [("No", False), ("on", True), ("0", False), ("T", True)])
def test_a_variable_is_true_or_false_in_any_common_word(monkeypatch, word, read):
    monkeypatch.setenv("SCHEDMATE_LLM__ENABLED", word)

    assert config.load().llm.enabled is read


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("retries = 1.5", "setting retries in {file}: must be a whole number"),
        ("retries = -1", "setting retries in {file}: must be 0 or more"),
        ("retries = true", "setting retries in {file}: must be a whole number"),
        ("retries = inf", "setting retries in {file}: must be a whole number"),
        ("longest_wait_s = 'long'", "setting longest_wait_s in {file}: must be a number"),
        ("longest_wait_s = nan", "setting longest_wait_s in {file}: must be 0 or more"),
        ("policy = 3", "setting policy in {file}: must be a text"),
        ("hang = 3", "setting hang in {file}: must be a table of settings"),
        ("operators = 'ann'", "setting operators in {file}: must be a list"),
        ("[hang]\npartitions = 3", "setting hang.partitions in {file}: must be a table"),
        (
            "[hang.partitions]\nlong = 0",
            "setting hang.partitions.long in {file}: must be more than 0",
        ),
        ("[local]\nslots = 0", "setting local.slots in {file}: must be more than 0"),
        ("[llm]\nenabled = 'perhaps'", "setting llm.enabled in {file}: must be true or false"),
        ("[llm]\nthreds = 3", "no such setting; is threads meant?"),
        ("[gpus]\nx = { tflops = inf }", "setting gpus.x.tflops in {file}: must be finite"),
        ("[gpus]\nx = { linked = true }", "gpus.x.tflops: is missing"),
        ("mode = ['act']", "setting mode in {file}: must be 'observe', 'assist' or 'act'"),
    ],
)
def test_what_is_wrong_with_a_setting_is_stated(tmp_path, text, named):
    (tmp_path / "user.toml").write_text(text)

    with pytest.raises(BadInput) as raised:
        config.load()

    assert named.format(file=tmp_path / "user.toml") in str(raised.value)


def test_a_changed_setting_keeps_the_others(monkeypatch):
    monkeypatch.setenv("SCHEDMATE_LLM__API_KEY", "very-secret")
    monkeypatch.setenv("SCHEDMATE_HANG__PARTITIONS", '{"long": 90}')

    settings = config.changed(config.load(), ["llm.threads=3", "local.slots=4"])

    assert (settings.llm.threads, settings.local.slots) == (3, 4)
    assert settings.llm.api_key.reveal() == "very-secret"
    assert settings.hang.partitions == {"long": 90.0}


def test_a_site_states_what_its_gpus_are(tmp_path):
    (tmp_path / "site.toml").write_text(
        '[gpus]\nfast = "H100"\n"gpu:own" = { tflops = 400, bandwidth_gbs = 2000 }\n'
    )
    gpus = config.load().gpus
    assert (gpus["fast"], gpus["gpu:own"].tflops) == ("H100", 400)


def test_a_directory_is_no_file_of_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", str(tmp_path))

    with pytest.raises(BadInput, match="is a directory"):
        config.load()
