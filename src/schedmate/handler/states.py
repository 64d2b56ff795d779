"""Schedulers' words for the end of a job, and the states they mean.

Some words name a reason that no state of ours stands for: that is the verdict.
"""

from __future__ import annotations

from typing import Final

from schedmate.model import JobState

_SLURM: Final = {
    JobState.PENDING: "CONFIGURING REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT "
    "POWER_UP_NODE PD CF RH RD SE",
    JobState.RUNNING: "COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED_BY_SIGNAL SUSPENDED "
    "UPDATE_DB R CG RS SI SO ST S",
    JobState.COMPLETED: "CD",
    JobState.FAILED: "F",
    JobState.CANCELLED: "CA REVOKED RV",
    JobState.TIMEOUT: "DEADLINE DL TO",
    JobState.NODE_FAIL: "BOOT_FAIL LAUNCH_FAILED RECONFIG_FAIL BF NF",
    JobState.OUT_OF_MEMORY: "OOM",
    JobState.PREEMPTED: "PR REQUEUED REQUEUE_FED RQ RF",
}
_LSF: Final = {
    JobState.PENDING: "PEND PSUSP WAIT PROV FWD_PEND",
    JobState.RUNNING: "RUN USUSP SSUSP UNKWN",
    JobState.COMPLETED: "DONE POST_DONE",
    JobState.FAILED: "EXIT POST_ERR",
    JobState.NODE_FAIL: "ZOMBI TERM_ZOMBIE",
    JobState.CANCELLED: "TERM_OWNER TERM_ADMIN TERM_FORCE_OWNER TERM_FORCE_ADMIN "
    "TERM_ORPHAN_SYSTEM",
    JobState.TIMEOUT: "TERM_RUNLIMIT TERM_CPULIMIT TERM_DEADLINE TERM_WINDOW",
    JobState.OUT_OF_MEMORY: "TERM_MEMLIMIT TERM_SWAP",
    JobState.PREEMPTED: "TERM_PREEMPT TERM_LOAD TERM_REQUEUE_OWNER TERM_REQUEUE_ADMIN "
    "TERM_BUCKET_KILL TERM_MC_RECALL",
}
_PBS_AND_SGE: Final = {
    JobState.PENDING: "Q H W T QW HQW HRWQ I",
    JobState.RUNNING: "E B RR DR T(RUNNING)",
    JobState.COMPLETED: "C",
    JobState.FAILED: "EQW EHQW",
    JobState.CANCELLED: "X",
}
_KUBERNETES: Final = {
    JobState.PENDING: "CONTAINERCREATING PODINITIALIZING SCHEDULINGGATED QUEUED",
    JobState.RUNNING: "ACTIVE NOTREADY",
    JobState.COMPLETED: "SUCCEEDED COMPLETE",
    JobState.FAILED: "ERROR CRASHLOOPBACKOFF BACKOFFLIMITEXCEEDED",
    JobState.CANCELLED: "TERMINATING",
    JobState.TIMEOUT: "DEADLINEEXCEEDED",
    JobState.NODE_FAIL: "UNKNOWN NODELOST NODESHUTDOWN NODENOTREADY DELETIONBYTAINTMANAGER",
    JobState.OUT_OF_MEMORY: "OOMKILLED",
    JobState.PREEMPTED: "PREEMPTING PREEMPTIONBYSCHEDULER",
}
_RAY_CONDOR_AND_CLOUDS: Final = {
    JobState.PENDING: "IDLE SUBMITTED RUNNABLE STARTING",
    JobState.RUNNING: "INPROGRESS TRANSFERRING STOPPING",
    JobState.COMPLETED: "SUCCESS",
    JobState.FAILED: "HELD",
    JobState.CANCELLED: "STOPPED REMOVED CANCELED ABORTED KILLED",
    JobState.TIMEOUT: "MAXRUNTIMEEXCEEDED MAXWAITTIMEEXCEEDED TIMEDOUT",
    JobState.PREEMPTED: "INTERRUPTED",
}

WORDS: Final[dict[str, JobState]] = {
    word: state
    for table in (_SLURM, _LSF, _PBS_AND_SGE, _KUBERNETES, _RAY_CONDOR_AND_CLOUDS)
    for state, words in table.items()
    for word in words.split()
} | {str(state): state for state in JobState}

_REASONS_BY_WORD: Final = {
    "preempted": "EVICTED",
    "killed": "TERM_EXTERNAL_SIGNAL TERM_OTHER TERM_UNKNOWN TERM_REMOVE_HUNG_JOB",
    "gpu_lost": "UNEXPECTEDADMISSIONERROR",
    "file_not_found": "TERM_CWD_NOTEXIST",
    "service_unreachable": "ERRIMAGEPULL IMAGEPULLBACKOFF",
    "command_not_found": "CONTAINERCANNOTRUN STARTERROR RUNCONTAINERERROR",
    "argument_error": "CREATECONTAINERCONFIGERROR INVALIDIMAGENAME ERRIMAGENEVERPULL",
    "node_failure": "TERM_PRE_EXEC_FAIL CREATECONTAINERERROR",
}
VERDICTS: Final[dict[str, str]] = {
    word: reason for reason, words in _REASONS_BY_WORD.items() for word in words.split()
}
"""All of them are failures."""


def plain(text: str) -> str:
    """The word itself: `CANCELLED by 1000`, `Init:Error`, `JOB_STATE_FAILED`, `TERM_OWNER:`."""
    word = (text.split() or [""])[0].upper().rstrip(":,.;")
    return word.removeprefix("INIT:").removeprefix("JOB_STATE_").removeprefix("JOBSTATE.")
