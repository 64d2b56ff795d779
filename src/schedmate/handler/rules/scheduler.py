"""Slurm's lines in the log, and the states and words of any scheduler."""

import re

from schedmate.handler.case import Case
from schedmate.handler.rules.base import LazyPattern, Rule, Weight
from schedmate.model import JobState

_STEP_OR_JOB = r"\*\*\* (?:JOB|STEP) [\w.+\[\]\-]{1,40} (?:ON \S{1,80} )?CANCELLED AT \S{1,40} "

_LINES = (
    Rule(
        name="slurm-cancelled-line",
        reason="time_limit",
        pattern=LazyPattern(
            _STEP_OR_JOB + r"DUE TO TIME LIMIT|srun: error: .{0,80}: Job/step reached time limit"
            r"|Job \S{1,40} has timed ?out\. Ran |this job is timed-out"
            r"|: tasks? [\d,\-]{1,60}: CPU time limit exceeded"
        ),
        confidence=0.98,
        positives=(
            (
                "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME "
                "LIMIT ***"
            ),
            "slurmd[n1]: *** JOB 17 CANCELLED AT 2013-04-01T00:00:00 DUE TO TIME LIMIT ***",
            (
                "slurmstepd-n1: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
                "TIME LIMIT ***"
            ),
            (
                "slurmstepd: error: *** STEP 17.batch ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE "
                "TO TIME LIMIT ***"
            ),
            (
                "submitit INFO (2026-01-01 00:00:00,000) - Caught signal SIGUSR2 on n1: this job "
                "is timed-out."
            ),
        ),
        negatives=("time limit: 01:00:00", "warning: approaching the time limit"),
    ),
    Rule(
        name="slurm-cancelled-line",
        reason="preempted",
        pattern=LazyPattern(
            _STEP_OR_JOB + r"DUE TO (?:PREEMPTION|JOB REQUEUE)|this job is preempted\."
        ),
        confidence=0.97,
        weight=Weight.DECISIVE,
        positives=(
            (
                "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
                "PREEMPTION ***"
            ),
            (
                "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
                "PREEMPTION ***"
            ),
            (
                "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO JOB "
                "REQUEUE ***"
            ),
            "submitit INFO - Caught signal SIGUSR2 on n1: this job is preempted.",
        ),
        negatives=("preemptible: yes", "requeue on preemption: enabled", "requeue=enabled"),
    ),
    Rule(
        name="slurm-cancelled-line",
        reason="node_failure",
        pattern=LazyPattern(_STEP_OR_JOB + r"DUE TO NODE FAILURE"),
        confidence=0.97,
        weight=Weight.DECISIVE,
        positives=(
            (
                "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE "
                "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"
            ),
            (
                "srun: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE "
                "FAILURE ***"
            ),
        ),
        negatives=("node failure tolerance: 1",),
    ),
    Rule(
        name="slurm-job-cancelled",
        reason="cancelled",
        pattern=LazyPattern(
            r"\*\*\* JOB [\w.+\[\]\-]{1,40} (?:ON \S{1,80} )?CANCELLED AT \S{1,40} \*\*\*"
            r"|srun: (?:error: )?interrupt .{0,30}one more within|Job cancelled by user"
        ),
        confidence=0.95,
        positives=(
            "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***",
            "slurmd[n1]: *** JOB 17 CANCELLED AT 2013-04-01T00:00:00 ***",
            "slurmstepd: error: *** JOB 17_3 ON n[1-4] CANCELLED AT 2026-01-01T00:00:00 ***",
        ),
        negatives=("cancelled orders: 4", "slurmstepd: *** JOB 17 STARTED ***"),
    ),
    Rule(
        # by its user, or because its node could not start it
        name="slurm-allocation-revoked",
        reason="cancelled",
        pattern=LazyPattern(r"(?:salloc|srun): .{0,20}Job allocation \d{1,12} has been revoked"),
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            "salloc: Job allocation 17 has been revoked.",
            "salloc: error: Job allocation 17 has been revoked",
        ),
        negatives=("salloc: Granted job allocation 17",),
    ),
    Rule(
        # srun ends the whole step when one task fails, so this is seldom the first cause
        name="slurm-step-cancelled",
        reason="cancelled",
        pattern=LazyPattern(
            r"\*\*\* STEP [\w.+\[\]\-]{1,40} (?:ON \S{1,80} )?CANCELLED AT \S{1,40} \*\*\*"
        ),
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***",
            "slurmstepd: error: *** STEP 2917.0 CANCELLED AT 2014-01-01T00:00:00 ***",
        ),
        negatives=(
            "*** STEP 17 of 20 ***",
            (
                "slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
                "TASK FAILURE ***"
            ),
        ),
    ),
    Rule(
        # the request itself cannot be met, and stays so
        name="slurm-request-refused",
        reason="argument_error",
        pattern=LazyPattern(
            r"^(?:srun|sbatch|salloc): (?:error|fatal): .{0,120}(?:More processors requested"
            r"|Job violates accounting|Unable to layout tasks|User's group not permitted"
            r"|Requested time limit is invalid|Requested partition configuration)"
            r"|[Nn]ot enough slots available in the system"
        ),
        confidence=0.85,
        positives=(
            (
                "srun: error: Unable to create step for job 17: More processors requested than "
                "permitted"
            ),
            (
                "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy "
                "(job submit limit, user's size and/or time limits)"
            ),
            (
                "srun: error: Task launch for StepId=12.4 failed on node n1: Unable to layout "
                "tasks on given cpus"
            ),
            "There are not enough slots available in the system to satisfy the 8 slots",
        ),
        negatives=(
            "srun: job 17 queued and waiting for resources",
            "srun: Job 2 step creation temporarily disabled, retrying (Requested nodes are busy)",
        ),
    ),
    Rule(
        # the launcher does not fit the way in which MPI was built
        name="mpi-launch",
        reason="argument_error",
        pattern=LazyPattern(
            r"was not built with SLURM'?s PMI|\bPMI2? failed to initialize"
            r"|\bPMI2? initialized but returned bad|not built with (?:PMI|PMIx|SLURM) support"
            r"|[Cc]ouldn't find the specified plugin name for mpi/"
        ),
        confidence=0.85,
        positives=(
            "but OMPI was not built with SLURM's PMI support and therefore cannot",
            "PMI2 failed to initialize, returning an error code of 14.",
            "PMI2 initialized but returned bad values for size and rank.",
            "srun: error: Couldn't find the specified plugin name for mpi/pmix2",
        ),
        negatives=("PMI2 initialized", "built with SLURM's PMI support: yes"),
    ),
    Rule(
        name="slurm-controller",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"^(?:srun|sbatch|salloc|squeue|scontrol|sacct|slurmstepd\S{0,60}): (?:error: "
            r"|fatal: )?"
            r".{0,120}(?:Unable to contact slurm controller|Socket timed out on send/recv"
            r"|Zero Bytes were transmitted|Slurm backup controller in standby)"
        ),
        unless=LazyPattern(r"retry|again|task launch for", re.IGNORECASE),
        confidence=0.75,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "srun: error: Unable to allocate resources: Unable to contact slurm controller "
                "(connect failure)"
            ),
            ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"),
        ),
        negatives=("srun: error: Socket timed out on send/recv operation, retrying",),
    ),
)

_VERDICTS = (
    Rule(
        name="scheduler-state",
        reason="time_limit",
        predicate=lambda case: case.state is JobState.TIMEOUT,
        reported_by="scheduler",
        confidence=0.98,
        positives=(Case(state=JobState.TIMEOUT), Case(state=JobState.TIMEOUT, signal=15)),
        negatives=(Case(state=JobState.FAILED),),
    ),
    Rule(
        name="scheduler-state",
        reason="preempted",
        predicate=lambda case: case.state is JobState.PREEMPTED,
        reported_by="scheduler",
        confidence=0.98,
        weight=Weight.DECISIVE,
        positives=(Case(state=JobState.PREEMPTED),),
        negatives=(Case(state=JobState.CANCELLED),),
    ),
    Rule(
        name="scheduler-state",
        reason="node_failure",
        predicate=lambda case: case.state is JobState.NODE_FAIL,
        reported_by="scheduler",
        confidence=0.98,
        weight=Weight.DECISIVE,
        positives=(Case(state=JobState.NODE_FAIL),),
        negatives=(Case(state=JobState.FAILED),),
    ),
    Rule(
        name="scheduler-state",
        reason="host_oom",
        predicate=lambda case: case.state is JobState.OUT_OF_MEMORY,
        reported_by="scheduler",
        confidence=0.97,
        positives=(
            Case(state=JobState.OUT_OF_MEMORY),
            Case(state=JobState.OUT_OF_MEMORY, signal=9),
        ),
        negatives=(Case(state=JobState.FAILED, signal=9),),
    ),
    Rule(
        name="scheduler-state",
        reason="cancelled",
        predicate=lambda case: case.state is JobState.CANCELLED,
        reported_by="scheduler",
        confidence=0.95,
        positives=(Case(state=JobState.CANCELLED), Case(state=JobState.CANCELLED, signal=15)),
        negatives=(Case(state=JobState.COMPLETED),),
    ),
)


def _by_word(reason: str, confidence: float, weight: Weight = Weight.SYMPTOM) -> Rule:
    """A reason that the scheduler's own word names and no state stands for."""
    return Rule(
        name="scheduler-word",
        reason=reason,
        predicate=lambda case: case.verdict == reason,
        reported_by="scheduler",
        confidence=confidence,
        weight=weight,
        positives=(Case(state=JobState.FAILED, verdict=reason),),
        negatives=(Case(state=JobState.FAILED),),
    )


_REPORTED = (
    _by_word("preempted", 0.75),
    _by_word("killed", 0.75),
    _by_word("gpu_lost", 0.8),
    _by_word("file_not_found", 0.7),
    _by_word("service_unreachable", 0.6),
    _by_word("command_not_found", 0.7),
    _by_word("argument_error", 0.7),
    _by_word("node_failure", 0.75),
)

RULES = (*_LINES, *_VERDICTS, *_REPORTED)
