"""`schedmate rules`: learned failure rules and corrections."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from schedmate import config
from schedmate.cli._case import verdict_options
from schedmate.cli._common import echo, echo_json, json_option, note_option, print_json, verb


@click.group(
    epilog="\b\nExamples:\n"
    "  schedmate rules correct slurm-17.out --reason storage_io\n"
    "  schedmate rules list\n"
    "  schedmate rules accept r1a2b3c\n"
    "  schedmate rules test --all\n"
    "  schedmate rules export rules.json"
)
def command() -> None:
    """What failures have taught: corrections, rules, and what a model proposes.

    A correction wins over every other answer to the same failure. A rule is made of it only if it
    matches no line of any run that ended well. A rule made of a model's answer is a proposal:
    nothing applies it before a person accepts it.
    """


@verb(
    name="list",
    examples="""
schedmate rules list
schedmate rules list --built-in
schedmate rules list --learned --json
""",
)
@click.option("--learned", "only", flag_value="learned", help="Only what was learnt.")
@click.option("--built-in", "only", flag_value="built_in", help="Only what came with SchedMate.")
@json_option
def list_verb(only: str | None, as_json: bool) -> None:
    """Learned rules and corrections, with their origin and how often they matched.

    What a model proposes stands apart, with the log it came from and the pattern it would match.
    The built-in rules are listed with --built-in, and with --json.
    """
    from schedmate.cli import _rules

    with closing(_rules.open_experience()) as store:
        if as_json:
            print_json({"schema": _rules.SCHEMA, **_rules.as_data(store, only)})
        elif only == "built_in":
            _rules.show_built_in()
        else:
            _rules.show_learned(store)


@verb(
    name="show",
    examples="""
schedmate rules show r1a2b3c
schedmate rules show gpu_oom/1 --json
""",
)
@click.argument("rule_id", metavar="ID")
@json_option
def show_verb(rule_id: str, as_json: bool) -> None:
    """All that is known of one rule or correction."""
    from schedmate.cli import _rules

    with closing(_rules.open_experience()) as store:
        found = _rules.described(store, rule_id)
    if as_json:
        print_json({"schema": "schedmate.rule/1", **found})
    else:
        _rules.show_one(found)


@verb(
    name="correct",
    examples="""
schedmate rules correct 17 --reason storage_io --note "OST 12 was being replaced"
schedmate rules correct slurm-17.out --reason data_error --line 4711
schedmate rules correct logs/ --reason auth_error --text "licence server denied" --json
schedmate rules correct 17 --reason network --no-rule
""",
)
@click.argument("targets", metavar="JOB_ID|LOG...", nargs=-1, required=True)
@click.option("--reason", required=True, help="What it really was, a reason of the taxonomy.")
@click.option("--line", type=click.IntRange(min=1), help="The line of the log that shows it.")
@click.option("--text", help="A piece of the line that shows it.")
@note_option
@click.option("--no-rule", is_flag=True, help="Remember it for this very failure only.")
@verdict_options
@json_option
def correct_verb(*, as_json: bool, **options: Any) -> None:
    """Say what a failure really was; the same failure is answered so from now on.

    Undo it with `schedmate rules remove ID`, or for a job with `schedmate rules withdraw JOB_ID`.
    In mode act a job with a reason that is tried again will be queued again within seconds; its
    correction cannot be withdrawn after that.
    """
    from schedmate.cli import _correcting, _correcting_at_daemon, _rules

    settings = config.load()
    if settings.server:
        _correcting_at_daemon.correct(settings, **options, as_json=as_json)
        return
    with closing(_rules.open_experience()) as store:
        lesson = _correcting.correct(store, **options)
    if as_json:
        from schedmate.model.wire import to_json

        print_json({"schema": "schedmate.correction/1", **to_json(lesson)})
    else:
        _correcting.show(lesson)


@verb(
    name="withdraw",
    examples="""
schedmate rules withdraw 17
schedmate rules withdraw 17 --json
""",
)
@click.argument("job_id")
@json_option
def withdraw_verb(job_id: str, as_json: bool) -> None:
    """Take back the correction of a job's newest attempt: its diagnosis is the one from before.

    What was corrected for all such failures is forgotten with the rule that was made of it.
    """
    from schedmate.cli import _correcting

    found = _correcting.withdraw(job_id)
    if as_json:
        print_json(found)
    else:
        echo(f"job {found.job_id} is {found.diagnosis.reason} again: {found.diagnosis.summary}")


@verb(
    name="add",
    examples="""
schedmate rules add --reason storage_io --text "beegfs: target 7 lost, retry limit reached"
schedmate rules add --reason auth_error --text "flexlm: no licence for solver left" --json
""",
)
@click.option("--reason", required=True, help="What such a line means, a reason of the taxonomy.")
@click.option("--text", required=True, help="A line as it is printed; numbers and paths may vary.")
@note_option
@json_option
def add_verb(reason: str, text: str, note: str, as_json: bool) -> int:
    """Make a rule of a line; it is checked against every healthy log on file."""
    from schedmate.cli import _rules

    with closing(_rules.open_experience()) as store, _rules.bar("checking") as on_log:
        from schedmate.handler.learning import Teaching

        teaching = Teaching(store, on_log=on_log)
        rule = teaching.add(reason, text, _rules.origin_here(about="added by hand", note=note))
        _rules.record(store, "add a rule", f"rule {rule.id}", reason)
    return _rules.tell([rule], as_json=as_json)


@verb(
    name="test",
    examples="""
schedmate rules test r1a2b3c
schedmate rules test r1a2b3c slurm-17.out
schedmate rules test --all --json
""",
)
@click.argument("targets", metavar="[ID] [LOG...]", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All learned rules.")
@click.option(
    "--seconds", default=300.0, show_default=True, help="How long healthy logs may be read."
)
@json_option
def test_verb(targets: tuple[str, ...], every: bool, seconds: float, as_json: bool) -> int:
    """Try rules on their examples, on the LOGs given and on every healthy log on file.

    Exit code 1 means that a rule misses its own example or matches a run that ended well.
    """
    from schedmate.cli import _rules

    if not every and not targets:
        raise click.UsageError("say which rule to test, or --all")
    with closing(_rules.open_experience()) as store:
        trials = _rules.tried(store, targets, every=every, seconds=seconds)
    if as_json:
        from schedmate.model.wire import to_json

        shown = [{**to_json(trial), "ok": trial.ok} for trial in trials]
        print_json({"schema": "schedmate.trials/1", "trials": shown})
    else:
        _rules.show_trials(trials)
    return 0 if all(trial.ok for trial in trials) else 1


@verb(name="disable", examples="schedmate rules disable r1a2b3c")
@click.argument("rule_id", metavar="ID")
@json_option
def disable_verb(rule_id: str, as_json: bool) -> int:
    """Ask a learned rule no more; `enable` undoes it."""
    from schedmate.cli import _rules

    with closing(_rules.open_experience()) as store:
        rule = _rules.disabled(store, rule_id)
    return _rules.tell([rule], as_json=as_json)


@verb(name="enable", examples="schedmate rules enable r1a2b3c")
@click.argument("rule_id", metavar="ID")
@json_option
def enable_verb(rule_id: str, as_json: bool) -> int:
    """Ask a learned rule again, if no healthy log on file speaks against it."""
    from dataclasses import replace

    from schedmate.cli import _rules
    from schedmate.model import BadInput

    with closing(_rules.open_experience()) as store, _rules.bar("checking") as on_log:
        from schedmate.handler.learning import Teaching

        found = _rules.learned(store, rule_id)
        if found.proposed:
            raise BadInput(f"{rule_id} is a model's proposal: schedmate rules accept {rule_id}")
        rule = replace(found, enabled=True)
        rule = Teaching(store, on_log=on_log).keep(rule)
        _rules.record(store, "enable a rule", f"rule {rule_id}", rule.refused)
    return _rules.tell([rule], as_json=as_json)


@verb(
    name="accept",
    examples="""
schedmate rules accept r1a2b3c
schedmate rules accept r1a2b3c --json
""",
)
@click.argument("rule_id", metavar="ID")
@json_option
def accept_verb(rule_id: str, as_json: bool) -> int:
    """Let a rule that a model proposed answer where no built-in rule does.

    It is checked against every healthy log on file first; exit code 1 means that one speaks
    against it.
    """
    from schedmate.cli import _rules
    from schedmate.handler.learning import Teaching

    with closing(_rules.open_experience()) as store, _rules.bar("checking") as on_log:
        proposal = _rules.proposal(store, rule_id)
        rule = Teaching(store, on_log=on_log).accept(proposal, by=_rules.person())
        _rules.record(store, "accept a rule", f"rule {rule_id}", rule.refused)
    return _rules.tell([rule], as_json=as_json)


@verb(
    name="refuse",
    examples="""
schedmate rules refuse r1a2b3c
schedmate rules refuse r1a2b3c --json
""",
)
@click.argument("rule_id", metavar="ID")
@json_option
def refuse_verb(rule_id: str, as_json: bool) -> None:
    """Turn down a rule that a model proposed; it is not proposed again."""
    from schedmate.cli import _rules
    from schedmate.handler.learning import Teaching

    with closing(_rules.open_experience()) as store:
        proposal = _rules.proposal(store, rule_id)
        rule = Teaching(store).refuse(proposal, by=_rules.person())
        _rules.record(store, "refuse a rule", f"rule {rule_id}")
    _rules.tell([rule], as_json=as_json)


@verb(
    name="forget",
    examples="""
schedmate rules forget --by model
schedmate rules forget --by model --json
""",
)
@click.option(
    "--by",
    "teacher",
    type=click.Choice(["model"]),
    required=True,
    help="Whose lessons to forget.",
)
@json_option
def forget_verb(teacher: str, as_json: bool) -> None:
    """Undo everything a model taught: its answers, its proposals, and those that were accepted.

    What people corrected or added stays.
    """
    from schedmate.cli import _rules

    with closing(_rules.open_experience()) as store:
        removed = store.forget_lessons(teacher="llm")
        _rules.record(store, "forget lessons", "the model", f"{len(removed)} lessons")
    if as_json:
        print_json({"schema": "schedmate.removed/1", "ids": removed})
    else:
        echo(f"forgotten of what a {teacher} taught: {', '.join(removed) or 'nothing'}")


@verb(
    name="remove",
    examples="""
schedmate rules remove r1a2b3c
schedmate rules remove c4d5e6f --json
""",
)
@click.argument("rule_id", metavar="ID")
@json_option
def remove_verb(rule_id: str, as_json: bool) -> None:
    """Forget a rule, or undo a correction with the rule that was made of it."""
    from schedmate.cli import _rules

    with closing(_rules.open_experience()) as store:
        removed = _rules.remove(store, rule_id)
    if as_json:
        print_json({"schema": "schedmate.removed/1", "ids": removed})
    else:
        echo(f"forgotten: {', '.join(removed)}")


@verb(
    name="export",
    examples="""
schedmate rules export
schedmate rules export rules.json
""",
)
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@json_option
def export_verb(file: str | None, as_json: bool) -> None:
    """Write the learned rules, refused ones left out, to FILE or stdout as JSON."""
    from pathlib import Path

    from schedmate.cli import _rules
    from schedmate.handler.learning import written_rules

    with closing(_rules.open_experience()) as store:
        sees = _rules.viewer()
        rules = [
            rule
            for rule in store.learned_rules()
            if not rule.refused and sees.may_read(rule.origin.owner)
        ]
    if file is None:
        echo_json(written_rules(rules))
        return
    Path(file).write_text(written_rules(rules), encoding="utf-8")
    if as_json:
        print_json({"schema": "schedmate.exported/1", "file": file, "rules": len(rules)})
    else:
        echo(f"{len(rules)} rules are in {file}", err=True)


@verb(
    name="import",
    examples="""
schedmate rules import rules.json
schedmate rules import rules.json --json
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@json_option
def import_verb(file: str, as_json: bool) -> int:
    """Take in the rules of FILE, each checked as if it had been learnt here."""
    import time
    from pathlib import Path

    from schedmate.cli import _rules
    from schedmate.handler.learning import Teaching, read_rules

    rules = read_rules(Path(file), by=_rules.person(), at=time.time())
    with closing(_rules.open_experience()) as store, _rules.bar("checking") as on_log:
        teaching = Teaching(store, on_log=on_log)
        kept = [teaching.keep(rule) for rule in rules]
        _rules.record(store, "import rules", file, f"{len(kept)} rules")
    return _rules.tell(kept, as_json=as_json)


for _verb in (
    *(list_verb, show_verb, correct_verb, withdraw_verb, add_verb, test_verb, disable_verb),
    *(enable_verb, accept_verb, refuse_verb, forget_verb, remove_verb, export_verb, import_verb),
):
    command.add_command(_verb)
