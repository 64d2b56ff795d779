"""What the documentation shows is what happens."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from docs.pages import PAGES, ROOT, Block, anchors, blocks, links, name_of
from docs.session import Session, Step, fits, steps
from schedmate import config
from warm_python import OF_VERBS, warm_python

CANNOT_RUN_HERE = re.compile(
    r"git clone URL-OF-THIS-REPOSITORY schedmate|cd schedmate"
    r"|export SCHEDMATE_SCHEDULER=slurm"
    r"|\./schedmate (?:demo|--version|doctor|serve &|jobs|why JOBID|diagnose YOUR-LOG)"
    r"|\./test(?: \S+)*"
    r"|\.venv(?:-test)?/bin/python [\w./ -]+"
    r'|ln -s "\$PWD/schedmate" ~/\.local/bin/'
    r"|pip install [\w.\[\]']+"
    r"|schedmate model install(?: --from \S+)?|schedmate (?:doctor|serve(?: --once| --port \d+)?)"
    r"|scp \S+ \S+"
    r"|alias sbatch='schedmate submit'|schedmate slurm install-hook(?: --\S+)?(?: /\S+)?"
    r"|schedmate history import slurm(?: --(?:since|until) \S+)*"
    r"|sudo scripts/private-slurm [\w=./ -]+"
    r"|(?:SCHEDMATE_\w+=\S+ )+schedmate [\w -]+"
    r"|python3 -m venv /opt/schedmate|/opt/schedmate/bin/(?:pip|schedmate) [\w=. -]+"
    r"|git pull|git checkout VERSION"
    r"|systemctl (?:reload|stop|start) schedmate|sacctmgr add user [\w= ]+"
    r"|sudo -u schedmate env SCHEDMATE_STATE_DIR=\S+ /opt/schedmate/bin/schedmate doctor"
    r"|schedmate store (?:restore|move postgresql://\S+)|createdb schedmate"
    r'|eval "\$\(schedmate completion bash\)"|pipx install "?[\w.\[\],]+"?'
    r"|(?:podman|docker) (?:build|run) [\w./: -]+|scripts/sbom [\w.> -]+"
    r"|schedmate service (?:uninstall(?: --purge)?|install --user|status)"
    r"|scripts/slurm-sid [\w./ -]+|scripts/install-test-packages"
    r"|python -m bench\.[\w.]+(?: [\w./=-]+)*"
    r"|schedmate submit --notify \S+ \S+|schedmate notify (?:on \S+|off|test)"
    r"|schedmate [\w -]*(?:--host box\d|box\d:\d+)(?: \S+)?|schedmate jobs(?: --watch)?"
)
"""All that may stand in an `sh` block: what needs a network, a site's Slurm or minutes."""
GPUS = {"one-box.md": 8}
"""Pages about a machine that has some."""
KINDS = {"console", "sh", "python", "toml", "text", "csv"}


def pages_with(*kinds: str) -> list[object]:
    return [
        pytest.param(page, id=name_of(page))
        for page in PAGES
        if any(block.kind in kinds for block in blocks(page))
    ]


def of_kind(page: Path, kind: str) -> list[Block]:
    return [block for block in blocks(page) if block.kind == kind and block.file is None]


@pytest.fixture(scope="module")
def python():
    with warm_python(Path(sys.executable), OF_VERBS) as python:
        yield python


@pytest.mark.processes
@pytest.mark.parametrize("page", pages_with("console"))
def test_commands_print_what_the_page_shows(page, tmp_path, python):
    session = Session(tmp_path, python, gpus=GPUS.get(page.name, 0))
    try:
        for block in blocks(page):
            if block.file is not None:
                session.write(block.file, block.text)
            elif block.kind == "console":
                _play(session, steps(block.text), where=f"{name_of(page)}:{block.line}")
    finally:
        session.close()


def _play(session: Session, told: list[Step], where: str) -> None:
    assert told, f"{where}: no command"
    for step, following in zip(told, [*told[1:], None], strict=True):
        printed = session.run(step)
        shown = f"{where}: $ {step.command}\n{printed}"
        assert not step.expected or fits(step.expected, printed), shown
        asked_for_the_code = following is not None and following.command == "echo $?"
        assert asked_for_the_code or not session.failed, shown


@pytest.mark.parametrize("page", pages_with("sh"))
def test_what_cannot_be_run_here_is_known(page):
    for block in of_kind(page, "sh"):
        for line in block.text.splitlines():
            command = re.sub(r"\s+#.*", "", line)
            assert CANNOT_RUN_HERE.fullmatch(command), f"{name_of(page)}:{block.line}: {line}"


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in of_kind(page, "python"):
        code = compile("\n" * block.line + block.text, name_of(page), "exec", dont_inherit=True)
        exec(code, {"__name__": "page"})


@pytest.mark.parametrize("page", pages_with("toml"))
def test_settings_are_valid(page, tmp_path, monkeypatch):
    for block in of_kind(page, "toml"):
        chosen = tmp_path / "config.toml"
        chosen.write_text(block.text, encoding="utf-8")
        monkeypatch.setenv("SCHEDMATE_CONFIG", str(chosen))
        assert config.load() != config.Settings()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_it_is(page):
    for block in blocks(page):
        assert block.kind in KINDS, f"{name_of(page)}:{block.line}"


def test_every_page_is_reached_from_the_start():
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        ahead += [
            (page.parent / link.partition("#")[0]).resolve()
            for link in links(page)
            if "://" not in link and not link.startswith("#")
        ]

    assert set(PAGES) <= reached


@pytest.mark.parametrize(
    ("expected", "printed", "fit"),
    [
        ("a\nb", "a\nb  \n", True),
        ("a ... c", "a 1 2 c\n", True),
        ("a\n...", "a\nb\nc\n", True),
        ("...\nc", "a\nb\nc\n", True),
        ("a", "a\nb\n", False),
        ("a...", "b\n", False),
        ("a\n...\nd", "a\nb\nc\n", False),
    ],
)
def test_what_is_shown_is_compared(expected, printed, fit):
    assert fits(expected, printed) is fit


@pytest.mark.processes
def test_a_wrong_page_is_noticed(tmp_path, python):
    session = Session(tmp_path, python)
    assert shutil.which("bash")

    with pytest.raises(AssertionError, match="echo one"):
        _play(session, steps("$ echo one\ntwo\n"), where="a page")
    with pytest.raises(AssertionError, match="false"):
        _play(session, steps("$ false\n"), where="a page")
    _play(session, steps("$ false\n$ echo $?\n1\n"), where="a page")
