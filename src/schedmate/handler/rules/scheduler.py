"""What the scheduler says: its verdict on the job and the lines it leaves in the log."""

import re

from schedmate.handler.case import Case
from schedmate.handler.rules.base import Rule, Weight
from schedmate.model import JobState

_STEP_OR_JOB = r"\*\*\* (?:JOB|STEP) [\w.+\[\]]{1,40} (?:ON \S{1,80} )?CANCELLED AT \S{1,40} "

RULES = (
    Rule(
        reason="time_limit",
        pattern=re.compile(
            _STEP_OR_JOB + r"DUE TO TIME LIMIT"
            r"|TERM_RUNLIMIT|=>> PBS: job killed: walltime"
            r"|Job was active on the node longer than specified deadline"
        ),
        confidence=0.98,
        positives=(
            (
                "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME "
                "LIMIT ***"
            ),
            "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        ),
        negatives=("time limit: 01:00:00", "warning: approaching the time limit"),
    ),
    Rule(
        reason="preempted",
        pattern=re.compile(_STEP_OR_JOB + r"DUE TO PREEMPTION|\bTERM_PREEMPT\b"),
        confidence=0.97,
        weight=Weight.DECISIVE,
        positives=(
            (
                "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
                "PREEMPTION ***"
            ),
        ),
        negatives=("preemptible: yes", "requeue on preemption: enabled"),
    ),
    Rule(
        reason="node_failure",
        pattern=re.compile(_STEP_OR_JOB + r"DUE TO NODE FAILURE|^srun: error: Node failure on \S"),
        confidence=0.97,
        weight=Weight.DECISIVE,
        positives=(
            (
                "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE "
                "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***"
            ),
            "srun: error: Node failure on gpu041",
        ),
        negatives=("node failure tolerance: 1",),
    ),
    Rule(
        reason="cancelled",
        pattern=re.compile(
            r"\*\*\* JOB [\w.+\[\]]{1,40} ON \S{1,80} CANCELLED AT \S{1,40} \*\*\*"
            r"|\bTERM_OWNER\b"
        ),
        confidence=0.95,
        positives=("slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***",),
        negatives=("cancelled orders: 4", "slurmstepd: *** JOB 17 STARTED ***"),
    ),
    Rule(
        # srun ends the whole step when one task fails, so this is seldom the first cause
        reason="cancelled",
        pattern=re.compile(
            r"\*\*\* STEP [\w.+\[\]]{1,40} ON \S{1,80} CANCELLED AT \S{1,40} \*\*\*"
        ),
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=("slurmstepd: error: *** STEP 17.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***",),
        negatives=("*** STEP 17 of 20 ***",),
    ),
    Rule(
        reason="time_limit",
        predicate=lambda case: case.state is JobState.TIMEOUT,
        confidence=0.98,
        positives=(Case(state=JobState.TIMEOUT),),
        negatives=(Case(state=JobState.FAILED),),
    ),
    Rule(
        reason="preempted",
        predicate=lambda case: case.state is JobState.PREEMPTED,
        confidence=0.98,
        weight=Weight.DECISIVE,
        positives=(Case(state=JobState.PREEMPTED),),
        negatives=(Case(state=JobState.CANCELLED),),
    ),
    Rule(
        reason="node_failure",
        predicate=lambda case: case.state is JobState.NODE_FAIL,
        confidence=0.98,
        weight=Weight.DECISIVE,
        positives=(Case(state=JobState.NODE_FAIL),),
        negatives=(Case(state=JobState.FAILED),),
    ),
    Rule(
        reason="host_oom",
        predicate=lambda case: case.state is JobState.OUT_OF_MEMORY,
        confidence=0.97,
        positives=(
            Case(state=JobState.OUT_OF_MEMORY),
            Case(state=JobState.OUT_OF_MEMORY, signal=9),
        ),
        negatives=(Case(state=JobState.FAILED, signal=9),),
    ),
    Rule(
        reason="cancelled",
        predicate=lambda case: case.state is JobState.CANCELLED,
        confidence=0.95,
        positives=(Case(state=JobState.CANCELLED), Case(state=JobState.CANCELLED, signal=15)),
        negatives=(Case(state=JobState.COMPLETED),),
    ),
)
