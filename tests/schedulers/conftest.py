import pytest

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
