"""Jobs that only Slurm's accounting remembers are imported with their code."""

import subprocess
import time
from contextlib import closing

import pytest

from schedmate.config import LlmSettings, Settings
from schedmate.model import JobState
from schedmate.schedulers.slurm import SlurmScheduler, history
from schedmate.schedulers.slurm.parsing import stored_script
from schedmate.service.usecases.history_import import ImportSpan, import_scheduler
from schedmate.service.wiring import open_store

TRAIN = "for epoch in range(7):\n    print(epoch)\n"
SCRIPT = "#!/bin/bash\n#SBATCH --gpus=1\npython3 train.py $1\n"
PATIENCE_S = 120
DAY_S = 86_400


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
        assert scheduler.script(stored).rstrip() == SCRIPT.rstrip()  # 26.05 drops the last newline

        settings = Settings(
            state_dir=tmp_path / "state", scheduler="slurm", llm=LlmSettings(enabled=False)
        )
        done = import_scheduler(settings, "slurm", span=ImportSpan(since=time.time() - DAY_S))
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


def printed(*scripts):
    rule = "-" * 80
    return "".join(f"Batch Script for {job_id}\n{rule}\n{text}\n" for job_id, text in scripts)


def test_many_scripts_come_with_few_questions():
    ids, asked = [str(number) for number in range(2500)], []

    def ask(*words):
        asked.append(words)
        return printed(
            *((job_id, f"#!/bin/sh\necho {job_id}\n") for job_id in words[-1].split(","))
        )

    found = history.stored_scripts(ask, ids)

    assert found == {job_id: f"#!/bin/sh\necho {job_id}\n" for job_id in ids}
    assert len(asked) == 3


def test_accounting_without_any_script_is_no_error():
    assert history.stored_scripts(lambda *_: "", ["1", "2"]) == {}


def test_a_script_that_looks_like_two_forges_no_other():
    forged = SCRIPT + printed(("2", "#!/bin/sh\nnot of job 2\n"))
    kept = {"1": forged, "2": "#!/bin/sh\nof job 2\n", "3": "NONE\n"}

    def ask(*words):
        return printed(*((job_id, kept[job_id]) for job_id in words[-1].split(",")))

    assert history.stored_scripts(ask, ["1", "2", "3"]) == {"1": forged, "2": kept["2"]}


@pytest.mark.slurm
def test_the_last_run_of_a_requeued_job_has_its_number(slurm_cluster, tmp_path):
    place = tmp_path / "requeued"
    place.mkdir()
    (place / "job.sh").write_text("#!/bin/bash\nexit 3\n")
    job_id = submit(place, "job.sh")
    wait_for_state(job_id, "FAILED")
    deadline = time.monotonic() + PATIENCE_S
    while not SlurmScheduler().requeue(job_id, run=0):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    question = ["sacct", "-n", "-X", "-D", "-P", "-j", job_id, "-o", "State,End"]
    while True:
        rows = subprocess.check_output(question, text=True).split()
        if len(rows) == 2 and not any("Unknown" in row for row in rows):
            break
        assert time.monotonic() < deadline, rows
        time.sleep(0.2)

    settings = Settings(
        state_dir=tmp_path / "state", scheduler="slurm", llm=LlmSettings(enabled=False)
    )
    for _ in range(2):
        now = time.time()
        import_scheduler(
            settings, "slurm", span=ImportSpan(since=now - DAY_S, until=now + 2, again=True)
        )
        with closing(open_store(settings)) as store:
            runs = [store.run(job_id, attempt) for attempt in range(3)]
        # Slurm keeps of the first run only that the job was queued again after it
        assert [run is not None for run in runs] == [False, True, False]
        assert runs[1].job.state is JobState.FAILED


def wait_for_state(job_id, state):
    deadline = time.monotonic() + PATIENCE_S
    question = ["sacct", "-n", "-X", "-P", "-j", job_id, "-o", "State"]
    while subprocess.check_output(question, text=True).split() != [state]:
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.slurm
def test_a_span_is_kept_to(slurm_cluster, tmp_path):
    job_id = submit(tmp_path, "--wrap", "true")
    wait_for_accounting([job_id])
    settings = Settings(
        state_dir=tmp_path / "state", scheduler="slurm", llm=LlmSettings(enabled=False)
    )
    now = time.time()
    before = import_scheduler(
        settings, "slurm", span=ImportSpan(since=now - 9 * DAY_S, until=now - 8 * DAY_S)
    )
    assert before.runs == 0
    after = import_scheduler(settings, "slurm", span=ImportSpan(since=now - 9 * DAY_S))
    assert after.runs >= 1
