"""The files of the private cluster."""

from pathlib import Path

from schedmate.testing import slurm_config
from schedmate.testing.slurm_cluster import SlurmCluster
from schedmate.testing.slurm_config import Ports

PORTS = Ports.free(2)


def written(**values) -> dict[str, str]:
    cluster = SlurmCluster(Path("/tmp/x"), ("n0", "n1"), ports=PORTS, **values)
    return slurm_config.files(cluster, "here", 22)


def test_settings_replace_the_lines_of_the_same_name():
    before = written()["slurm.conf"].splitlines()
    after = written(settings={"PriorityWeightAge": "7", "PriorityMaxAge": "1-0"})["slurm.conf"]

    assert "PriorityWeightAge=1000" in before
    assert [line for line in after.splitlines() if line.startswith("PriorityWeightAge")] == [
        "PriorityWeightAge=7"
    ]
    assert "PriorityMaxAge=1-0" in after
    assert set(before) - set(after.splitlines()) == {"PriorityWeightAge=1000"}


def test_every_gpu_has_a_file_that_is_there():
    gres = written(gpus_per_node=8)["gres.conf"]
    files = [word[5:] for word in gres.split() if word.startswith("File=")]

    assert len(set(files)) == 8
    assert all(Path(file).exists() for file in files)
