"""What LSF, PBS, Grid Engine and HTCondor write into a job's output, and notices of clouds that
take a machine back.
"""

import re

from schedmate.handler.rules.base import Rule, Weight

RULES = (
    Rule(
        reason="time_limit",
        pattern=re.compile(
            r"\bTERM_(?:RUNLIMIT|DEADLINE|WINDOW|CPULIMIT)\b"
            r"|PBS: job killed: (?:walltime|cput) |exceeded hard wallclock time"
            r"|enforced h_rt limit|exceeded (?:its )?(?:wall ?time|h_rt|run ?time) limit"
            r"|exceeded allowed (?:job|execute) duration|[Uu]ser (?:cpu)?time limit exceeded"
            r"|exceeded (?:its )?wallclock limit|time limit for job execution has been reached"
            r"|MaxRuntimeExceeded|[Jj]ob was terminated because it reached (?:its )?max"
        ),
        confidence=0.97,
        positives=(
            "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
            "TERM_DEADLINE: job killed after deadline expires.",
            "=>> PBS: job killed: walltime 3621 exceeded limit 3600",
            "=>> PBS: job killed: cput 100 exceeded limit 60",
            "job 812 exceeded hard wallclock time - initiate terminate method",
            "MOAB_INFO:  job exceeded wallclock limit",
            "The user-provided time limit for job execution has been reached:",
        ),
        negatives=("RUNLIMIT 24:00", "walltime=24:00:00", "h_rt limit: 86400"),
    ),
    Rule(
        reason="preempted",
        pattern=re.compile(
            r"\bTERM_(?:PREEMPT|LOAD|REQUEUE_(?:OWNER|ADMIN)|BUCKET_KILL|MC_RECALL)\b"
            r"|[Jj]ob was evicted\b"
            r"|[Ss]pot (?:instance|VM|node).{0,60}(?:interrupt\w{0,4} notice|will be (?:terminated"
            r"|stopped|reclaimed)|(?:was|been|being) (?:interrupted|reclaimed|terminated"
            r"|preempted))"
            r"|[Rr]eceived .{0,30}(?:spot|preemption|interruption) (?:termination |interruption )?"
            r"(?:notice|signal|warning)"
            r"|(?:[Ii]nstance|VM|node|[Cc]luster|TPU|worker|[Jj]ob|[Mm]achine)\W.{0,60}"
            r"(?:was|were|got|has been|is being|being) (?:pre-?empted|reclaimed)\b"
            r"|compute\.instances\.preempted|\"?EventType\"?: ?\"?Preempt\b"
            r"|[Hh]ost maintenance event|[Tt]erminated by .{0,30}maintenance"
            r"|Preempted by \S{1,120} on node|PreemptionByScheduler"
            r"|[Pp]reemption (?:notice|signal) (?:received|detected)|[Dd]etected preemption\b"
        ),
        unless=re.compile(r"\bif\b|\bwhen\b|\bin case\b|listening|handler|enabled|polling"),
        confidence=0.93,
        weight=Weight.DECISIVE,
        positives=(
            "TERM_PREEMPT: job killed after preemption.",
            "TERM_LOAD: job killed after load exceeds threshold.",
            "004 (812.000.000) 01/01 00:00:00 Job was evicted.",
            "Spot instance interruption notice: the instance will be terminated at 08:22:00Z",
            "2026-01-01 INFO TPU worker 3 was preempted",
            "  Warning  Preempted  2m  default-scheduler  Preempted by team/pod-a on node gpu-7",
            "ERROR: instance n1 was preempted by Compute Engine",
        ),
        negatives=(
            "preemption handler installed, polling the metadata server",
            "spot instances are cheaper",
            "will save a checkpoint when the instance is being preempted",
        ),
    ),
    Rule(
        reason="cancelled",
        pattern=re.compile(
            r"\bTERM_(?:FORCE_)?(?:OWNER|ADMIN)\b|\bTERM_ORPHAN_SYSTEM\b"
            r"|[Jj]ob was aborted by the user|via condor_rm|has been deleted by|"
            r"[Jj]ob deleted at request of|[Jj]ob was (?:cancell?ed|stopped) by (?:the )?user"
        ),
        unless=re.compile(r"request of root@"),
        confidence=0.95,
        positives=(
            "TERM_OWNER: job killed by owner.",
            "TERM_ADMIN: job killed by root or LSF administrator.",
            "TERM_FORCE_OWNER: job killed by owner without time for cleanup.",
            "009 (812.000.000) 01/01 00:00:00 Job was aborted by the user.",
            "        via condor_rm (by user ada)",
            "12/01/2026 00:00:00  S    Job deleted at request of ada@n1",
        ),
        negatives=("old checkpoint deleted", "owner: ada", "Job deleted at request of root@pbs"),
    ),
    Rule(
        reason="killed",
        pattern=re.compile(
            r"\bTERM_(?:EXTERNAL_SIGNAL|OTHER|ZOMBIE|REMOVE_HUNG_JOB|UNKNOWN)\b"
            r"|^Exited (?:by signal|with signal termination: \w{1,20}/) ?(?:9|15|1)\b"
            r"|^Exited with exit code (?:137|143)\.?$|assumedly after job"
            r"|Exit_status=(?:271|265|137|143)\b|Abnormal termination \(signal (?:9|15)\)"
        ),
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            "TERM_EXTERNAL_SIGNAL: job killed by a signal external to LSF.",
            "Exited with signal termination: Killed/9.",
            "Exited by signal 9.",
            "Exited with exit code 137.",
            "Exit_status=271",
            "        (0) Abnormal termination (signal 9)",
        ),
        negatives=("Exit_status=0", "Exited with exit code 1.", "Successfully completed."),
    ),
    Rule(
        reason="file_not_found",
        pattern=re.compile(r"\bTERM_CWD_NOTEXIST\b"),
        confidence=0.9,
        positives=(
            (
                "TERM_CWD_NOTEXIST: current working directory is not accessible or does not exist "
                "on the execution host"
            ),
        ),
        negatives=("current working directory: /home/ada",),
    ),
)
