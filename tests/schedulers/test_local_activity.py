"""What running jobs of the local scheduler do, from /proc."""

from __future__ import annotations

import os
import signal

import pytest

from schedmate.schedulers.base import KnowsOpenFiles, MeasuresActivity
from schedulers.local_site import LocalSite, processes_of, wait_for

pytestmark = pytest.mark.processes

BURN = "while time.process_time() < 0.5: pass"


@pytest.fixture
def site(tmp_path):
    site = LocalSite(tmp_path)
    yield site
    for job in site.scheduler.jobs():
        site.scheduler.cancel(job.id)
    wait_for(lambda: all(job.state.ended for job in site.scheduler.jobs()), "the end")
    site.scheduler.stop()
    wait_for(lambda: not processes_of(tmp_path), "the end of the daemon")


def cpu_s(site, *ids):
    found = site.scheduler.activity(site.scheduler.jobs(ids))
    return [found[job].cpu_s if job in found else None for job in ids]


def test_cpu_time_is_that_of_all_processes_of_a_run_and_of_no_other(site):
    assert isinstance(site.scheduler, MeasuresActivity)
    forever = "import time\nwhile True: pass"
    background = f'python3 -c "{forever}" & sleep 600'
    busy = site.submit("bash", "-c", background)
    still = site.submit("sleep", "600")

    idle = wait_for(lambda: (cpu_s(site, busy, still)[0] or 0) > 1 and cpu_s(site, busy, still))
    assert idle[1] < 0.5, "starting it is all it has done"
    before = cpu_s(site, still)
    wait_for(lambda: cpu_s(site, busy)[0] > idle[0] + 0.3)
    assert cpu_s(site, still) == before


def test_what_a_child_that_is_gone_has_used_still_counts(site):
    text = f"for _ in 1 2; do python3 -c 'import time\n{BURN}'; done; touch done; sleep 600"
    job = site.submit("bash", "-c", text)

    wait_for((site.work / "done").exists, "the end of the children", 60)

    assert cpu_s(site, job)[0] >= 0.8


def test_a_process_that_was_stopped_is_blocked_and_not_hung(site):
    job = site.submit("bash", "-c", "echo $$ > pid; exec sleep 600")
    pid = int(wait_for(lambda: (site.work / "pid").exists() and (site.work / "pid").read_text()))
    assert not site.scheduler.activity(site.scheduler.jobs([job]))[job].blocked

    os.kill(pid, signal.SIGSTOP)

    wait_for(lambda: site.scheduler.activity(site.scheduler.jobs([job]))[job].blocked)


def test_files_that_a_run_has_open_for_writing(site):
    assert isinstance(site.scheduler, KnowsOpenFiles)
    text = "exec 3>> written 4< /etc/passwd; sleep 600 & sleep 600"
    jobs = [site.submit("bash", "-c", one) for one in (text, "sleep 600")]

    def written():
        found = site.scheduler.written_files(site.scheduler.jobs(jobs))
        return [found.get(job, frozenset()) for job in jobs]

    path = str(site.work.resolve() / "written")
    one, other = wait_for(lambda: path in written()[0] and written(), "the start of the first")
    assert "/etc/passwd" not in one
    assert path not in other


def test_jobs_that_do_not_run_are_left_out(site):
    ended = site.submit("true")
    wait_for(lambda: site.scheduler.jobs([ended])[0].state.ended)

    assert site.scheduler.activity(site.scheduler.jobs([ended])) == {}
    assert site.scheduler.activity([]) == {}
