import pytest

from schedmate.testing.slurm_cluster import private_slurm, why_not

pytest.register_assert_rewrite("schedmate.testing.scheduler_contract")


@pytest.fixture(scope="session")
def slurm_cluster():
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with private_slurm() as cluster:
        yield cluster
