"""Helper processes of a job that died of an unknown cause."""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

RULES = (
    Rule(
        name="torch-dataloader",
        reason="dataloader_killed",
        pattern=LazyPattern(
            r"DataLoader worker \(pid(?:\(s\))? [\d, ]{1,200}\) (?:exited unexpectedly"
            r"|is killed by signal: )|[Pp]in memory thread exited unexpectedly"
            r"|DataLoader timed out after \d"
            r"|DataLoader worker exited unexpectedly"
            r"|background workers? (?:is|are) no longer alive"
        ),
        unless=LazyPattern(r"killed by signal: Bus"),
        confidence=0.85,
        weight=Weight.SYMPTOM,
        positives=(
            "RuntimeError: DataLoader worker (pid(s) 4821) exited unexpectedly",
            "RuntimeError: One or more background workers are no longer alive. Exiting.",
            "RuntimeError: DataLoader worker (pid 4821) is killed by signal: Killed.",
            "RuntimeError: DataLoader worker (pid 96) is killed by signal: Segmentation fault. ",
            "RuntimeError: Pin memory thread exited unexpectedly",
        ),
        negatives=(
            "DataLoader worker (pid 12) started",
            "DataLoader worker (pid 12) is killed by signal: Bus error. ",
        ),
    ),
    Rule(
        name="ray-worker",
        reason="killed",
        pattern=LazyPattern(
            r"^(?:[\w.]{1,100}\.)?(?:ActorDiedError|RayActorError|WorkerCrashedError|KilledWorker"
            r"|TerminatedWorkerError|OwnerDiedError|LocalRayletDiedError|ObjectLostError"
            r"|ObjectReconstructionFailed\w{0,60})(?::|$)"
        ),
        errors_only=True,
        confidence=0.48,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this "
                "task."
            ),
            "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.",
            (
                "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process "
                "managed by the executor was unexpectedly terminated."
            ),
            "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this",
            "ray.exceptions.OwnerDiedError: Failed to retrieve object 00ff. The object's owner has",
            "ray.exceptions.LocalRayletDiedError: The task's local raylet died.",
        ),
        negatives=("ValueError: no worker pool",),
    ),
    Rule(
        name="raylet-line",
        reason="killed",
        pattern=LazyPattern(
            r"A worker died or was killed while executing a task|local raylet (?:has )?died"
            r"|actor is dead because its (?:worker process|owner) has died"
            r"|Worker unexpectedly exits with a connection error"
        ),
        unless=LazyPattern(r"retry|restart"),
        confidence=0.48,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "(raylet) A worker died or was killed while executing a task by an unexpected "
                "system error."
            ),
            "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR",
        ),
        negatives=("A worker died or was killed while executing a task, retrying",),
    ),
)
