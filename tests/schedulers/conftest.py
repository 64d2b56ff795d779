import subprocess
from contextlib import closing

import pytest

from schedmate.config import LlmSettings, Settings
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.service.wiring import open_store
from schedmate.testing.scheduler_bench import Bench
from schedmate.testing.slurm_cluster import private_slurm, why_no_rest, why_not

pytest.register_assert_rewrite("schedmate.testing.scheduler_contract")


@pytest.fixture(scope="session")
def slurm_cluster():
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with private_slurm() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def rest_cluster(slurm_cluster):
    """The cluster with a slurmrestd that runs."""
    reason = why_no_rest()
    if reason:
        pytest.skip(reason)
    slurm_cluster.start_rest()
    yield slurm_cluster
    slurm_cluster.stop_daemon("slurmrestd")


@pytest.fixture
def bench(slurm_cluster, tmp_path):
    bench = Bench(SlurmScheduler(), tmp_path, patience_s=120)
    yield bench
    subprocess.run(["scancel", "--user=root"], check=True)
    bench.clear()


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    return Settings(
        scheduler="slurm",
        mode="act",
        settle_s=0.0,
        state_dir=tmp_path / "state",
        llm=LlmSettings(enabled=False),
    )


@pytest.fixture
def store(settings):
    with closing(open_store(settings)) as store:  # what ended before it was made is left alone
        yield store
