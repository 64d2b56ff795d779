"""The command line: one file a verb, imported only when it is called."""

from __future__ import annotations

import errno
import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from schedmate import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.shell_completion import CompletionItem

VERBS: dict[str, str] = {
    "advise": "What a job is, how long it will take, what is wrong with it.",
    "track": "How far a job is and when it ends, from its log.",
    "diagnose": "Why a job failed and what to do, from its logs.",
    "rules": "What failures have taught: correct a diagnosis, list, test and share rules.",
    "submit": "Hand a job to the scheduler, advised first.",
    "run": "Wait for a GPU, then run a command at this terminal.",
    "jobs": "The queue: predictions, progress, diagnoses.",
    "job": "One job's whole view.",
    "logs": "What a job prints, as it comes.",
    "eta": "When a job ends, in one line.",
    "why": "Why a job waits, runs on or failed, in one line.",
    "nodes": "The nodes: how they are, and which are suspect.",
    "cancel": "Cancel jobs.",
    "requeue": "Queue jobs again under their ids.",
    "hold": "Keep waiting jobs from starting.",
    "release": "Let held jobs start.",
    "top": "Put waiting jobs before your others.",
    "revert": "Undo what SchedMate did, as far as it still can be.",
    "history": "Past jobs: import, list, show.",
    "slurm": "Advice within sbatch: install and uninstall the hook.",
    "serve": "The daemon: advises, tracks and diagnoses the jobs of the scheduler.",
    "status": "The daemon, its store and what it did, at a glance; for operators.",
    "pause": "Let the daemon do nothing for a while, at once; for operators.",
    "resume": "Let the daemon act again after a pause; for operators.",
    "audit": "Who did what, and which sign-ins failed; for operators.",
    "notify": "Messages when a job of yours ends, fails, hangs or will miss its limit.",
    "token": "Access to the daemon from other machines: create, list, revoke.",
    "mcp": "Answers for assistants, over stdio; it only looks.",
    "replay": "What the daemon saw, through the decision engine again.",
    "simulate": "What a policy would do to a trace of jobs.",
    "backtest": "What predictions would have been worth on this site's own past.",
    "model": "The embedded language model: install, status, remove.",
    "service": "Run the daemon as a service, of a site or of your account.",
    "store": "The store of all that SchedMate knows: copies, and the way back to one.",
    "doctor": "Check every part and print the fix.",
    "completion": "Complete verbs, options and job ids in your shell.",
    "man": "The manual of a verb, or of all.",
    "demo": "The whole system on this machine in a few minutes.",
}


_ELSEWHERE = {
    word: verb
    for verb, words in {
        "submit": ("sbatch", "add"),
        "run": ("srun", "salloc"),
        "jobs": ("squeue", "list", "ls", "queue"),
        "nodes": ("sinfo",),
        "cancel": ("scancel", "kill", "rm", "remove"),
        "logs": ("tail", "cat", "log", "follow"),
        "history": ("sacct",),
        "job": ("info", "show"),
        "requeue": ("restart",),
    }.items()
    for word in words
}
"""What these are called by Slurm and by other queues of one machine."""


class LazyGroup(click.Group):
    """`--help` lists the verbs without importing any of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module = import_module(f"schedmate.cli.{cmd_name}")
        command: click.Command = module.command
        if _is_own_process:
            from schedmate.cli._process import listen_for_ctrl_c

            listen_for_ctrl_c()
        return command

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with _noticing_the_reader():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with _noticing_the_reader():
            return super().invoke(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Without importing the verbs, as it is asked at every press of a key."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=text)
            for name, text in VERBS.items()
            if name.startswith(incomplete)
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            typed = args[0].lower()
            near = _ELSEWHERE.get(typed) or next(iter(get_close_matches(typed, VERBS, n=1)), "")
            meant = f"; is {near} meant?" if near else ""
            raise click.UsageError(f"no verb is called {args[0]!r}{meant}", ctx) from error


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every verb answers --help with examples and --json with data on stdout.",
)
@click.version_option(__version__, prog_name="schedmate")
def root() -> None:
    """SchedMate makes the scheduler of a GPU cluster understand the jobs it runs.

    \b
      schedmate demo                         see it all happen in a few minutes
      schedmate submit train.sh              queue a job, advised first
      schedmate track train.log              how far is it, when does it end
      schedmate diagnose slurm-17.out        why did it fail, what to do
    """


_is_own_process = False


def main(argv: list[str] | None = None) -> NoReturn:
    """Run a verb and end with its exit code; with `argv` the process is the caller's own."""
    if argv is not None:
        _run(argv)
    from schedmate.cli import _process

    global _is_own_process  # noqa: PLW0603 - it is one process
    _is_own_process = True
    code: object = 1
    try:
        _process.begin()
        _run(None)
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        code = _process.INTERRUPTED
    _process.end(code)


@contextmanager
def _noticing_the_reader() -> Iterator[None]:
    """click would take its going for a failure."""
    try:
        yield
    except BrokenPipeError as error:
        from schedmate.cli._process import ReaderGone

        raise ReaderGone from error


def _run(argv: list[str] | None) -> NoReturn:
    """What a person can mend becomes one sentence and its exit code."""
    try:
        result: Any = root.main(args=argv, prog_name="schedmate", standalone_mode=False)
        sys.exit(result if isinstance(result, int) else 0)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        _show(error)
        sys.exit(2 if isinstance(error, click.UsageError) else error.exit_code)
    except Exception as error:
        _report(error)
        raise


def _show(error: click.ClickException) -> None:
    from io import StringIO

    from schedmate.cli._common import echo_lines

    written = StringIO()
    error.show(file=written)
    echo_lines(written.getvalue().rstrip("\n"), err=True)


def _report(error: Exception) -> None:
    from schedmate.cli._common import say
    from schedmate.cli._process import ReaderGone, unwritten
    from schedmate.model.errors import SchedMateError

    if isinstance(error, ReaderGone):
        sys.exit(0)
    if isinstance(error, SchedMateError):
        say(str(error))
        sys.exit(error.exit_code)
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        is_output = not where and error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF)
        say(unwritten(error) if is_output else f"{(error.strerror or str(error)).lower()}{where}")
        sys.exit(1)
