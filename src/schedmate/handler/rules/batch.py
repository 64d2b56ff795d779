"""What LSF, PBS, Grid Engine and HTCondor write into a job's output."""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

RULES = (
    Rule(
        name="batch-limit",
        reason="time_limit",
        pattern=LazyPattern(
            r"\bTERM_(?:RUNLIMIT|DEADLINE|WINDOW|CPULIMIT)\b"
            r"|PBS: job killed: (?:walltime|cput) |exceeded hard wallclock time"
            r"|enforced h_rt limit|exceeded (?:its )?(?:wall ?time|h_rt|run ?time) limit"
            r"|exceeded allowed (?:job|execute) duration|[Uu]ser (?:cpu)?time limit exceeded"
            r"|exceeded (?:its )?wallclock limit|time limit for job execution has been reached"
            r"|exceeded (?:the |its )?maximum (?:execution|run(?:ning)?) ?time"
            r"|MaxRuntimeExceeded|JobTimeoutExceeded|\b(?:[Jj]ob|[Tt]ask|[Rr]un|[Ww]orkflow"
            r"|[Ee]xecution) "
            r"(?:\S{1,40} )?(?:has )?exceeded (?:the |its )?(?:\w{1,12} )?(?:timeout|deadline"
            r"|time limit)"
            r"|[Jj]ob was terminated because it reached (?:its )?max"
        ),
        confidence=0.97,
        positives=(
            "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
            "TERM_DEADLINE: job killed after deadline expires.",
            "=>> PBS: job killed: walltime 3621 exceeded limit 3600",
            "=>> PBS: job killed: cput 100 exceeded limit 60",
            "job 812 exceeded hard wallclock time - initiate terminate method",
            "MOAB_INFO:  job exceeded wallclock limit",
            "The job exceeded the timeout of 3600 seconds and was canceled",
            "The user-provided time limit for job execution has been reached:",
        ),
        negatives=("RUNLIMIT 24:00", "walltime=24:00:00", "h_rt limit: 86400"),
    ),
    Rule(
        name="batch-owner",
        reason="cancelled",
        pattern=LazyPattern(
            r"\bTERM_(?:FORCE_)?(?:OWNER|ADMIN)\b|\bTERM_ORPHAN_SYSTEM\b"
            r"|[Jj]ob was aborted by the user|via condor_rm|has been deleted by|"
            r"[Jj]ob deleted at request of|\b(?:[Jj]ob|[Rr]un|[Tt]ask|[Ee]xecution|[Ww]orkflow"
            r"|[Pp]ipeline|[Ee]xperiment|[Oo]peration|[Tt]rial|[Pp]od)\b.{0,60}(?:cancell?ed|stopped"
            r"|aborted|terminated|deleted|killed) by (?:the )?user\b|CancelledByUser"
            r"|cancell?ed (?:because|since|as) (?:the |a )?user (?:has )?requested"
        ),
        unless=LazyPattern(r"request of root@"),
        confidence=0.95,
        positives=(
            "TERM_OWNER: job killed by owner.",
            "TERM_ADMIN: job killed by root or LSF administrator.",
            "TERM_FORCE_OWNER: job killed by owner without time for cleanup.",
            "009 (812.000.000) 01/01 00:00:00 Job was aborted by the user.",
            "        via condor_rm (by user ada)",
            "12/01/2026 00:00:00  S    Job deleted at request of ada@n1",
            "Execution of run f3a was cancelled by user ada",
        ),
        negatives=("old checkpoint deleted", "owner: ada", "Job deleted at request of root@pbs"),
    ),
    Rule(
        # an administrator, or the server for a reason that it logs elsewhere
        name="batch-root",
        reason="cancelled",
        pattern=LazyPattern(r"[Jj]ob deleted at request of root@"),
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            "04/18/2016 22:55:25;0008;PBS_Server;Job;82.s1;Job deleted at request of root@s1",
        ),
        negatives=("Job deleted at request of ada@n1",),
    ),
    Rule(
        name="batch-signal",
        reason="killed",
        pattern=LazyPattern(
            r"\bTERM_(?:EXTERNAL_SIGNAL|OTHER|REMOVE_HUNG_JOB|UNKNOWN)\b"
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
        name="lsf-working-directory",
        reason="file_not_found",
        pattern=LazyPattern(r"\bTERM_CWD_NOTEXIST\b"),
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
