"""sbatch with `cli_filter.lua` on a real cluster: advice where there is some, never in the way."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.model import BadInput, NotFound
from schedmate.schedulers.slurm import hook
from schedmate.service.daemon import asking

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120
SCHEDMATE = [sys.executable, "-m", "schedmate"]


@pytest.fixture
def place(slurm_cluster, tmp_path):
    """Its slurm.conf names the plugin; no job starts."""
    config = slurm_cluster.config.read_text()
    (tmp_path / "job.sh").write_text("#!/bin/bash\n#SBATCH -H\npython3 gone.py $1\n")
    slurm_cluster.config.write_text(f"{config}CliFilterPlugins=lua\n")
    yield tmp_path
    slurm_cluster.config.write_text(config)
    (slurm_cluster.config.parent / hook.NAME).unlink(missing_ok=True)
    subprocess.run(["scancel", "--user=root"], check=False)


def environment(place, **more):
    ours = {
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_STATE_DIR": str(place / "state"),
        "SCHEDMATE_HOOK__SOCKET": str(place / "ask.sock"),
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    return {**os.environ, **ours, **more}


def schedmate(place, *words):
    return subprocess.run(
        [*SCHEDMATE, *words], env=environment(place), capture_output=True, text=True, check=False
    )


def install(place, slurm_cluster, *words):
    done = schedmate(place, "slurm", "install-hook", "--always", *words)
    assert done.returncode == 0, done.stderr
    return slurm_cluster.config.parent / hook.NAME


def sbatch(place, *words, **more):
    begun = time.monotonic()
    done = subprocess.run(
        ["sbatch", *(words or ("job.sh",))],
        cwd=place,
        env=environment(place, **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Submitted batch job ")
    return done.stderr, time.monotonic() - begun


@contextmanager
def daemon(place):
    process = subprocess.Popen([*SCHEDMATE, "serve"], env=environment(place), cwd=place)
    try:
        wait_until((place / "ask.sock").is_socket)
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@contextmanager
def listener(place, answer):
    """Something else at the socket: `answer` gets each connection. Yields what it was asked."""
    questions, askers = [], []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / "ask.sock"))
        listening.listen(8)

        def accept():
            while True:
                try:
                    asker, _ = listening.accept()
                except OSError:
                    return
                askers.append(asker)
                with suppress(OSError):  # it has hung up
                    questions.append(asker.recv(65536))
                    answer(asker)

        thread = threading.Thread(target=accept)
        thread.start()
        yield questions
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE_S)
    for asker in askers:
        asker.close()


@pytest.mark.slurm
def test_sbatch_shows_the_advice_of_a_daemon(place, slurm_cluster):
    install(place, slurm_cluster)
    with daemon(place) as process:
        # the first reading may take longer than sbatch waits
        wait_until(lambda: "gone.py is not there" in sbatch(place)[0])
        wait_until(
            lambda: "no_such.py is not there" in sbatch(place, "-H", "--wrap=python3 no_such.py")[0]
        )
        assert "gone.py" not in sbatch(place, SCHEDMATE_HOOK="off")[0]
        process.kill()
        process.wait(PATIENCE_S)
        assert (place / "ask.sock").is_socket()  # which no one listens at any more
        assert sbatch(place)[0] == ""


@pytest.mark.slurm
def test_without_curl_python_asks(place, slurm_cluster, tmp_path):
    install(place, slurm_cluster)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sbatch", "sh", "timeout", "python3"):
        (programs / name).symlink_to(shutil.which(name, path="/usr/bin:/bin") or name)
    with listener(place, lambda asker: close_with(b"by python", asker)) as asked:
        wait_until(lambda: "schedmate: by python" in sbatch(place, PATH=str(programs))[0])
    assert asked


def close_with(text, asker):
    with asker:
        asker.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + text)


EMPTY = """
function slurm_cli_setup_defaults() return slurm.SUCCESS end
function slurm_cli_pre_submit() return slurm.SUCCESS end
function slurm_cli_post_submit() return slurm.SUCCESS end
"""


@pytest.mark.slurm
def test_a_daemon_that_hangs_costs_a_fraction_of_a_second(place, slurm_cluster):
    path = slurm_cluster.config.parent / hook.NAME
    path.write_text(EMPTY)
    plain = min(sbatch(place)[1] for _ in range(5))
    path.unlink()
    install(place, slurm_cluster)
    took = []
    with listener(place, lambda _: None) as asked:
        for _ in range(5):
            shown, seconds = sbatch(place)
            took.append(seconds)
            assert shown == ""
    assert len(asked) == 5
    assert 0.2 <= min(took) < plain + 3  # it would hang for ever


def endless(asker):
    asker.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
    while True:
        asker.sendall(b"more\n" * 1000)


HOSTILE = {
    "formats and escapes": b"%s%n%d \x1b[2J\x07\xff\x00 $(touch owned) `touch owned`",
    "many lines": b"line\n" * 100,
    "one long line": b"x" * 100_000,
    "an error page": b"",
}


@pytest.mark.slurm
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_answer_does_no_harm(place, slurm_cluster, case):
    install(place, slurm_cluster)
    with listener(place, lambda asker: close_with(HOSTILE[case], asker)):
        shown, _ = sbatch(place)
    assert not (place / "owned").exists()
    assert "\x1b" not in shown
    assert len(shown) < 3000
    assert shown.count("\n") <= 8


@pytest.mark.slurm
def test_an_endless_answer_ends_with_the_deadline(place, slurm_cluster):
    install(place, slurm_cluster)
    with listener(place, endless):
        shown, seconds = sbatch(place)
    assert shown.count("more") <= 8
    assert seconds < PATIENCE_S / 10


@pytest.mark.slurm
def test_hostile_words_of_a_job_stay_words(place, slurm_cluster):
    install(place, slurm_cluster)
    with listener(place, lambda asker: close_with(b"", asker)) as asked:
        sbatch(place, "-J", "a'b; touch owned #", "job.sh", "'; touch owned; '", "$(touch owned)")
    assert not (place / "owned").exists()
    assert b"argv=%24%28touch%20owned%29" in asked[0]
    assert b"job-name=a%27b%3B%20touch%20owned%20%23" in asked[0]


@pytest.mark.slurm
def test_where_no_one_sees_it_no_one_asks(place, slurm_cluster):
    done = schedmate(place, "slurm", "install-hook")
    assert done.returncode == 0
    with listener(place, lambda asker: close_with(b"seen", asker)) as asked:
        assert sbatch(place)[0] == ""
    assert asked == []


@pytest.mark.slurm
def test_the_hook_comes_and_goes(place, slurm_cluster):
    path = slurm_cluster.config.parent / hook.NAME
    shown = schedmate(place, "slurm", "install-hook", "--dry-run")
    assert not path.exists()
    assert str(place / "ask.sock") in shown.stdout
    # slurmctld itself has not read slurm.conf again
    assert "CliFilterPlugins=lua" in schedmate(place, "slurm", "install-hook").stderr
    assert path.read_text() == shown.stdout
    subprocess.run(["scontrol", "reconfigure"], check=True)
    refused = schedmate(place, "slurm", "uninstall-hook")
    assert (refused.returncode, path.exists()) == (2, True)
    assert "sbatch would fail without the file" in refused.stderr
    config = slurm_cluster.config
    config.write_text(config.read_text().replace("CliFilterPlugins=lua\n", ""))
    subprocess.run(["scontrol", "reconfigure"], check=True)
    wait_until(lambda: schedmate(place, "slurm", "uninstall-hook").returncode == 0)
    assert not path.exists()


def test_only_our_own_file_is_replaced_or_removed(tmp_path):
    path = tmp_path / hook.NAME
    with pytest.raises(NotFound, match="there is no"):
        hook.uninstall(tmp_path)
    path.write_text("-- the site's own\n")
    for touch in (lambda: hook.install(tmp_path, "x"), lambda: hook.uninstall(tmp_path)):
        with pytest.raises(BadInput, match=r"is not SchedMate's and stays as it is; .*dofile"):
            touch()
    assert path.read_text() == "-- the site's own\n"
    path.unlink()

    first = hook.hook_text(tmp_path / "a.sock")
    hook.install(tmp_path, first)
    second = hook.hook_text(tmp_path / "b.sock", always=True)
    hook.install(tmp_path, second)
    assert path.read_text() == second != first
    assert path.stat().st_mode & 0o777 == 0o644
    path.write_text(second + "-- changed\n")
    for touch in (lambda: hook.install(tmp_path, first), lambda: hook.uninstall(tmp_path)):
        with pytest.raises(BadInput, match="was changed after SchedMate wrote it"):
            touch()
    path.write_text(second)
    hook.uninstall(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_never_followed(tmp_path):
    other = tmp_path / "other"
    other.write_text(hook.hook_text(tmp_path / "a.sock"))
    (tmp_path / hook.NAME).symlink_to(other)
    with pytest.raises(BadInput, match="is not SchedMate's"):
        hook.install(tmp_path, "x")
    assert other.exists()


@pytest.mark.parametrize("path", ["relative", "/with'quote", "/a\nb", "/" + "x" * 108])
def test_a_path_that_lua_or_the_kernel_would_not_take(path):
    with pytest.raises(BadInput, match=r"hook\.socket must be"):
        hook.hook_text(Path(path))


@pytest.mark.parametrize("where", ["a new state directory", "a private one", "a public one"])
def test_a_socket_that_other_users_cannot_reach_is_warned_of(monkeypatch, where):
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        top = Path(made)
        top.chmod(0o700 if where == "a private one" else 0o755)
        monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(top / "state"))
        if where != "a new state directory":
            monkeypatch.setenv("SCHEDMATE_HOOK__SOCKET", str(top / "ask.sock"))

        done = CliRunner().invoke(root, ["slurm", "install-hook", "--dir", str(top)])

        assert done.exit_code == 0
        assert (top / hook.NAME).exists()
    private = {"a new state directory": top / "state", "a private one": top}.get(where)
    if private is None:
        assert done.stderr == ""
    else:
        assert f"{private} is private; set hook.socket" in done.stderr


def test_the_page_about_the_hook_has_the_bounds_of_the_code():
    page = (ROOT / "docs" / "how-to" / "submit-hook.md").read_text()
    text = hook.hook_text(Path("/run/schedmate/advice.sock"))
    asked = int(re.findall(r"MOST_ASKED = (\d+)", text)[0])

    assert f"A question has at most {asked // 1024} KB" in page
    assert re.search(rf"daemon reads\s+up to {asking._MOST_BYTES // 1024} KB", page)


@pytest.mark.slurm
@pytest.mark.parametrize(("flags", "nice"), [((), 40), (("--nice=7",), 47), (("--nice=-7",), -7)])
def test_a_new_job_gets_a_number_at_its_submission(place, slurm_cluster, flags, nice):
    """Beyond its owner's own; one below zero is an operator's."""
    text = hook.hook_text(place / "ask.sock", nice=40)
    hook.install(slurm_cluster.config.parent, text)
    done = subprocess.run(
        ["sbatch", "--parsable", *flags, "job.sh"], cwd=place, capture_output=True, check=True
    )
    job_id = done.stdout.decode().strip()
    shown = subprocess.check_output(["squeue", "-h", "-j", job_id, "-o", "%y"], text=True)
    assert int(shown) == nice, done.stderr


@pytest.mark.slurm
@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("--gres=gpu:1", "--comment=x,schedmate=shareable"), "gres:shard:4"),
        (("--gres=gpu:a100:1", "-p", "main"), "gres:shard:a100:4"),
        (("--gres=gpu:1", "-p", "main", "--comment=schedmate=keep"), "gres:gpu:1"),
        (("--gres=gpu:2", "-p", "main"), "gres:gpu:2"),
        (("--gres=gpu:1",), "gres:gpu:1"),
    ],
)
def test_a_job_that_may_share_asks_for_all_parts_of_its_gpu(place, slurm_cluster, words, asked):
    lent = hook.LentAtSubmission(shards=4, partitions=("main",))
    hook.install(slurm_cluster.config.parent, hook.hook_text(place / "ask.sock", lent=lent))

    command = ["sbatch", "--parsable", *words, "job.sh"]
    job_id = subprocess.check_output(command, cwd=place, text=True).strip()
    shown = subprocess.check_output(
        ["squeue", "-h", "-j", job_id, "-O", "tres-per-node:40"], text=True
    )

    assert shown.strip() == asked
