"""The folders of ended jobs go after a while, and never those that are still needed."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from schedmate.model import SchedulerError
from schedmate.schedulers.local.attempt import RunEnd
from schedmate.schedulers.local.retention import FolderRetention
from tests.schedulers.local_site import SETTINGS, LocalSite

DAY_S = 86_400.0


@pytest.fixture
def site(tmp_path):
    return LocalSite(tmp_path, real=False)


def end(site, job_id, days_ago):
    for entry in site.queue.named(job_id):
        site.queue.begin(entry.id, (), time.time())
        ended = RunEnd(code=0, signal=0, reason="", end=time.time() - days_ago * DAY_S)
        site.queue.finish(entry, ended)


def kept(site, **settings):
    keeper = FolderRetention(site.queue, site.layout, replace(SETTINGS, **settings))
    keeper.step(time.time())
    return sorted(int(one.name) for one in site.layout.jobs.iterdir())


def test_what_ended_long_ago_goes_and_what_is_needed_stays(site):
    old, new, waiting, awaited = (site.shell("true") for _ in range(4))
    site.shell("true", dependency=f"afterany:{awaited}")
    for job, days in ((old, 40), (new, 2), (awaited, 40)):
        end(site, job, days)

    assert kept(site, keep_days=30.0) == [int(new), int(waiting), int(awaited), 5]
    with pytest.raises(SchedulerError, match="is not kept: submit it again"):
        site.scheduler.requeue(old, run=0)
    assert site.job(old).state == "COMPLETED"
    assert site.scheduler.requeue(new, run=0)


def test_the_script_of_a_job_goes_with_its_folder(site):
    (site.work / "job.sh").write_text("#!/bin/sh\n")
    job = site.submit("./job.sh", script="job.sh")
    assert site.scheduler.script(job) == "#!/bin/sh\n"
    end(site, job, 40)
    assert kept(site, keep_days=30.0) == []
    assert site.scheduler.script(job) is None


def test_the_oldest_go_earlier_where_all_is_too_large(site):
    jobs = [site.shell("true", env={"SECRET": "x" * 600_000}) for _ in range(4)]
    for days, job in enumerate(jobs[:3], 1):
        end(site, job, days)

    assert kept(site, keep_megabytes=1.3) == [int(jobs[0]), int(jobs[3])]
