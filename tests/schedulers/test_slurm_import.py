"""Jobs that only Slurm's accounting remembers are imported with their code."""

import subprocess
import time
from contextlib import closing

import pytest

from schedmate.config import LlmSettings, Settings
from schedmate.schedulers.slurm import SlurmScheduler
from schedmate.schedulers.slurm.parsing import stored_script
from schedmate.service.usecases.history_import import import_scheduler
from schedmate.service.wiring import open_store

TRAIN = "for epoch in range(7):\n    print(epoch)\n"
SCRIPT = "#!/bin/bash\n#SBATCH --gpus=1\npython3 train.py $1\n"
PATIENCE_S = 120


def submit(place, *words):
    answer = subprocess.check_output(["sbatch", "--parsable", *words], cwd=place, text=True)
    return answer.strip()


def wait_for_accounting(ids):
    question = ["sacct", "-n", "-X", "-P", "-j", ",".join(ids), "-o", "State"]
    deadline = time.monotonic() + PATIENCE_S
    while subprocess.check_output(question, text=True).split() != ["COMPLETED"] * len(ids):
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.slurm
def test_what_the_controller_has_forgotten_is_imported_with_its_code(slurm_cluster, tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    for name in ("kept.sh", "gone.sh"):
        (tmp_path / name).write_text(SCRIPT)
    time.sleep(1)  # code is older than the runs
    config = slurm_cluster.config.read_text()
    by_line = submit(tmp_path, "--gpus=1", "kept.sh", "3")
    lost = submit(tmp_path, "gone.sh")
    wrapped = submit(tmp_path, "--wrap", "python3 train.py")
    wait_for_accounting([by_line, lost, wrapped])
    try:
        slurm_cluster.config.write_text(config + "AccountingStoreFlags=job_script\n")
        slurm_cluster.stop_daemon("slurmctld")
        slurm_cluster.start_controller()
        stored = submit(tmp_path, "gone.sh")
        wait_for_accounting([stored])
        (tmp_path / "gone.sh").unlink()
        slurm_cluster.stop_daemon("slurmctld")
        slurm_cluster.start_controller(forgetful=True)

        scheduler = SlurmScheduler()
        lines = scheduler.submit_lines([by_line, lost, "999999", "no id"])
        assert lines[by_line] == "sbatch --parsable --gpus=1 kept.sh 3"
        assert set(lines) == {by_line, lost}
        assert scheduler.script(stored).rstrip() == SCRIPT.rstrip()  # 26.05 drops the last newline

        settings = Settings(
            state_dir=tmp_path / "state", scheduler="slurm", llm=LlmSettings(enabled=False)
        )
        done = import_scheduler(settings, "slurm")
        assert done.runs >= 4
        with closing(open_store(settings)) as store:
            codes = {
                job_id: run.fingerprint.code
                for job_id in (by_line, lost, wrapped, stored)
                if (run := store.run(job_id)) is not None and run.fingerprint is not None
            }
        assert set(codes) == {by_line, wrapped, stored}
        assert len(set(codes.values())) == 1
    finally:
        slurm_cluster.config.write_text(config)
        slurm_cluster.stop_daemon("slurmctld")
        slurm_cluster.start_controller()


def test_a_script_as_accounting_prints_it():
    rule = "-" * 80
    assert stored_script(f"Batch Script for 3\n{rule}\n{SCRIPT}\n") == SCRIPT
    assert stored_script(f"Batch Script for 3\n{rule}\nNONE\n") is None
    for odd in ("", "\n", "sacct: nothing", "Batch Script for 3"):
        assert stored_script(odd) is None
