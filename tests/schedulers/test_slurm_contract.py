import pytest

from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.testing.scheduler_contract import SchedulerContract


@pytest.mark.slurm
class TestSlurm(SchedulerContract):
    slots = 4
    restart_variable = "SLURM_RESTART_COUNT"
    shortest_limit_s = 60.0
    limit_patience_s = 110.0
    clock_slack_s = 2.0
    several_nodes = True

    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls, slurm_cluster):
        assert slurm_cluster.slots == cls.slots
        return SlurmScheduler()
