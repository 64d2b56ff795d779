"""A scheduler's report behind the job's output is neither calm nor a sign of life."""

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.reading.epilogue import split_epilogue

STEPS = "".join(f"step {n} loss 2.31 lr 0.001\n" for n in range(30))
LSF = """
------------------------------------------------------------
Sender: LSF System <lsfadmin@b7n05>
Subject: Job 8812: <vit> in cluster <c7> Exited

Job <vit> was submitted from host <login2> by user <ada> in cluster <c7> at Mon Mar  3 10:12:44
Job was executed on host(s) <1*b7n05>, in queue <batch>, as user <ada> at Mon Mar  3 10:13:01
</home/ada> was used as the home directory.
Started at Mon Mar  3 10:13:01
Terminated at Mon Mar  3 10:44:31

Your job looked like:

------------------------------------------------------------
# LSBATCH: User input
#!/bin/bash
jsrun -n 24 python train.py --epochs 90 --batch-size 128 --lr 0.1

------------------------------------------------------------

Exited with exit code 1.

Resource usage summary:

    CPU time :                                   5301.21 sec.
    Max Memory :                                 43421 MB
    Max Swap :                                   -
    Turnaround time :                            1907 sec.

PS:

Read file <err.8812> for stderr output of this job.
"""
SEFF = """
Job ID: 441201
Cluster: tiger2
User/Group: ada/chem
State: FAILED (exit code 1)
Cores per node: 8
CPU Utilized: 00:12:10
CPU Efficiency: 8.12% of 02:29:52 core-walltime
Job Wall-clock time: 00:18:44
Memory Utilized: 12.21 GB
Memory Efficiency: 38.15% of 32.00 GB
"""
PBS = """
==============================================================================
                  Resource Usage on 2025-02-01 13:20:03:
   Job Id:             99213.pbs
   Exit Status:        1
   Service Units:      3.22
   NCPUs Requested:    12                     NCPUs Used: 12
                                           CPU Time Used: 00:09:12
   Memory Requested:   95.0GB                Memory Used: 12.4GB
==============================================================================
"""
SACCT = """
JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
881             vit.sh        gpu       chem          8     FAILED      1:0
881.batch        batch                  chem          8     FAILED      1:0
"""
EPILOG = "------ slurm epilog ------\n" + "removing /tmp/job881\n" * 40
EPILOGUES = {"LSF": LSF, "seff": SEFF, "PBS": PBS, "sacct": SACCT, "site": EPILOG}
ERRORS = {
    "permission_denied": "mkdir: cannot create directory '/data/x': Permission denied",
    "command_not_found": "run.sh: line 3: torchrunn: command not found",
    "file_not_found": "python: can't open file '/home/u/trian.py': [Errno 2] No such file",
    "argument_error": "train.py: error: unrecognized arguments: --epochz 3",
    "gpu_oom": "CUDA out of memory. Tried to allocate 2.00 GiB",
    "key_error": "KeyError: 'label'",
    "data_error": "ERROR: shard 12 is corrupt",
    "killed": "Killed",
}


def diagnose(text, **verdict):
    return Handler().diagnose(Case(logs=(NamedLog("a.log", text.encode()),), **verdict))


@pytest.mark.parametrize("epilogue", EPILOGUES.values(), ids=EPILOGUES)
@pytest.mark.parametrize("reason", ERRORS)
def test_an_error_before_it_is_as_sure_as_without_it(reason, epilogue):
    text = f"{STEPS}{ERRORS[reason]}\n"

    alone, followed = diagnose(text, exit_code=1), diagnose(text + epilogue, exit_code=1)

    assert alone.reason == reason
    assert (followed.reason, followed.confidence) == (reason, alone.confidence)
    assert followed.evidence[0] == alone.evidence[0]


def test_what_it_reports_is_evidence():
    killed = LSF.replace("Exited with exit code 1.", "TERM_MEMLIMIT: job killed after reaching LSF")
    assert diagnose(STEPS + killed, exit_code=1).reason == "host_oom"


def test_output_behind_a_report_is_the_jobs():
    """LSF writes its report first where it collects the output."""
    text = LSF.partition("PS:")[0] + "The output (if any) follows:\n\n" + STEPS
    assert diagnose(f"{text}{ERRORS['key_error']}\n", exit_code=1).reason == "key_error"
    assert split_epilogue((text + STEPS).encode())[1] == b""


@pytest.mark.parametrize(
    "text",
    [
        STEPS,
        "Job summary\n" + STEPS,
        "epoch 3: loss 0.1\ntime: 3 s\nstep time: 0.1, loss 3\nGPU memory: 3 GB, step 3\n",
        "lr: 0.1\nseed: 3\n",
        "",
    ],
)
def test_a_jobs_own_output_is_no_epilogue(text):
    assert split_epilogue(text.encode()) == (text.encode(), b"")


@pytest.mark.parametrize("epilogue", EPILOGUES.values(), ids=EPILOGUES)
def test_both_parts_make_up_the_whole(epilogue):
    body, report = split_epilogue((STEPS + epilogue).encode())
    assert body.startswith(STEPS.encode())
    assert (body + report).decode() == STEPS + epilogue
    assert report
