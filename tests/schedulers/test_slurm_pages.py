"""README's and the how-to's lines for a Slurm site, typed on a real one."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from docs.pages import ROOT, blocks
from schedulers.local_site import wait_for

pytestmark = pytest.mark.slurm

PAGES = ("README.md", "docs/how-to/slurm.md")
SLURM = re.compile(r"SCHEDMATE_SCHEDULER=slurm|schedmate (?:doctor|serve|jobs|why)")

ELSEWHERE = ("sudo scripts/private-slurm", "SCHEDMATE_SLURM__CLUSTER=")


def lines_of(page):
    """The commands of its blocks that are about Slurm, without their comments."""
    for block in blocks(ROOT / page):
        if block.kind == "sh" and SLURM.search(block.text):
            lines = [re.sub(r"\s+#.*", "", line) for line in block.text.splitlines()]
            yield [line for line in lines if not line.startswith(ELSEWHERE)]


@pytest.fixture
def typed(slurm_cluster, tmp_path):
    """Runs a line as the pages have it, `schedmate` being this one."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "SCHEDMATE_SCHEDULER": "slurm",
        "SCHEDMATE_STATE_DIR": str(tmp_path / "state"),
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_SLURM__POLL_S": "0.5",
    }
    started = []

    def run(line, job_id):
        words = line.replace("./schedmate", "schedmate").replace("JOBID", job_id).split()
        if words[0] != "schedmate":
            assert words == ["export", "SCHEDMATE_SCHEDULER=slurm"]
            return ""
        goes_on = words[-1] == "&" or words[1:] == ["serve"]
        command = [
            sys.executable,
            "-P",
            "-m",
            "schedmate",
            *(word for word in words[1:] if word != "&"),
        ]
        if goes_on:
            with (tmp_path / "serve.log").open("w") as out:
                started.append(subprocess.Popen(command, env=environment, stdout=out, stderr=out))
            log = tmp_path / "serve.log"
            wait_for(lambda: "serving slurm in mode observe" in log.read_text(), "the daemon")
            return ""
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    yield run
    for daemon in started:
        daemon.terminate()
        assert daemon.wait(60) == 0


def shown(job_id):
    """All that a scheduler's user could have changed about a job."""
    text = subprocess.check_output(["scontrol", "-o", "show", "job", job_id], text=True)
    return re.findall(r"\b(?:JobState|Nice|TimeLimit|ExcNodeList|Restarts)=\S+", text)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_tells_a_site_to_type_works_and_changes_nothing(typed, page, tmp_path):
    submitted = [
        "sbatch",
        "--parsable",
        "-o",
        "/dev/null",
        "-D",
        str(tmp_path),
        "--wrap",
        "sleep 600",
    ]
    job_id = subprocess.check_output(submitted, text=True).strip()
    try:
        wait_for(lambda: "JobState=RUNNING" in shown(job_id), "the job's start")
        before = shown(job_id)
        found = list(lines_of(page))
        assert found
        printed = [typed(line, job_id) for lines in found for line in lines]
        if page == "README.md":
            assert any(job_id in text for text in printed)
        assert shown(job_id) == before
    finally:
        subprocess.run(["scancel", job_id], check=True)
