"""Nothing of a log, a name or a file of rules reaches the terminal as a control code."""

from __future__ import annotations

import io
import json
from contextlib import closing, redirect_stdout
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.test_cli import CRASH, schedmate
from schedmate.cli import main
from schedmate.cli._common import echo, echo_lines, print_json
from schedmate.cli._console import LegibleConsole
from schedmate.handler.learning import Teaching, written_rules
from schedmate.model.legible import has_hidden, legible
from schedmate.model.lessons import Origin
from schedmate.store.sqlite import SqliteStore

__all__ = ["schedmate"]
EVIL = "\x1b]0;pwned\x07\x1b[2Jx\u202e\x9b31m"
ORIGIN = Origin(teacher="operator", by=EVIL, about=EVIL, at=1.0, note=EVIL)


def hidden(text):
    return has_hidden(text.replace("\n", ""))


@given(st.text())
def test_what_is_legible_hides_nothing_and_is_one_line(text):
    assert not has_hidden(legible(text))
    assert legible(legible(text)) == legible(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_says_the_same(text):
    with redirect_stdout(io.StringIO()) as out:
        print_json({"text": text})
    assert not hidden(out.getvalue())
    assert json.loads(out.getvalue()) == {"text": text}


def test_our_styles_stay_styles():
    out = io.StringIO()
    LegibleConsole(file=out, force_terminal=True, width=200, highlight=False).print(
        f"[red]{EVIL}[/red]"
    )
    assert out.getvalue().startswith("\x1b[31m\\x1b]0;pwned\\x1b[2Jx\\u202e\\x9b31m\x1b[0m")


def test_names_of_logs_are_shown_not_obeyed(schedmate, tmp_path):
    log = tmp_path / f"a{EVIL}.log"
    log.write_text(CRASH)
    for args in ((log,), (log, "--json"), (log, "--node", EVIL), ("gone" + EVIL,), ("--" + EVIL,)):
        done = schedmate(*args)
        assert done.stdout or done.stderr
        assert not hidden(done.stdout + done.stderr)


def test_a_name_that_is_no_text_is_shown(schedmate, tmp_path):
    log = tmp_path / "a\udcff.log"
    log.write_text(CRASH)
    done = schedmate(log)
    assert done.returncode == 0
    assert "a\N{REPLACEMENT CHARACTER}.log:3" in done.stdout


def kept_rule(tmp_path):
    with closing(SqliteStore(tmp_path / "state" / "schedmate.sqlite3")) as store:
        rule = Teaching(store).add("storage_io", "beegfs: target lost, retry limit reached", ORIGIN)
        store.keep_rule(replace(rule, positives=(rule.positives[0] + EVIL,)))
    return rule


@pytest.mark.usefixtures("schedmate")
def test_learned_rules_are_shown_not_obeyed(tmp_path, capsys):
    rule = kept_rule(tmp_path)
    for words in (["list"], ["show", rule.id], ["test", rule.id], ["export"], ["list", "--json"]):
        with pytest.raises(SystemExit):
            main(["rules", *words])
        out = capsys.readouterr().out
        assert out
        assert not hidden(out)


@pytest.mark.usefixtures("schedmate")
@pytest.mark.parametrize("name", ["pattern", "positives", "words"])
def test_rules_with_control_characters_are_not_taken_in(tmp_path, capsys, name):
    given = json.loads(written_rules([kept_rule(tmp_path)]))
    value = given["rules"][0][name]
    given["rules"][0][name] = value + EVIL if isinstance(value, str) else [value[0] + EVIL]
    (tmp_path / "rules.json").write_text(json.dumps(given))
    with pytest.raises(SystemExit) as done:
        main(["rules", "import", "rules.json"])
    assert done.value.code == 2
    assert f"{name} has control characters" in capsys.readouterr().err


def test_lines_of_ours_stay_lines(capsys):
    echo_lines("one\ntwo\tthree")
    assert capsys.readouterr().out == "one\ntwo\tthree\n"


def test_what_is_one_line_stays_one(capsys):
    echo("one\ntwo")
    assert capsys.readouterr().out == "one\\x0atwo\n"
