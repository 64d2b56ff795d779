"""Exceptions that say only that something failed elsewhere."""

from schedmate.handler.rules.base import Lazy, Rule, Weight, any_of

RULES = (
    Rule(
        name="child-process-exception",
        reason="unknown",
        pattern=any_of(
            r"ChildFailedError|ProcessRaisedException|ProcessExitedException|RemoteTraceback",
            r"^(?:[\w.]{1,80}\.)?(?:RayTaskError|RayActorError|ActorDiedError|TaskUnschedulable)",
            r"^(?:[\w.]{1,80}\.)?(?:TrainingFailedError|WorkerCrashedError|TuneError|TrialFailed\w{0,12})",
            r"^(?:subprocess\.)?CalledProcessError: |SignalException: |^ExceptionGroup: ",
            r"BaseExceptionGroup: |Caught [\w.]{1,100} in (?:DataLoader worker|replica|pin memory)",
            r"^(?:[\w.]{1,80}\.)?BrokenProcessPool|^(?:[\w.]{1,80}\.)?TerminatedWorkerError",
            (
                r"^(?:[\w.]{1,80}\.)?(?:NotebookExecutionFailed|PapermillExecutionError"
                r"|CellExecutionError)"
            ),
            r"^(?:[\w.]{1,80}\.)?(?:WorkflowError|LightningSubprocessError|FailedRunError)(?::|$)",
            # somebody waited for what never came, usually because another process died
            r"^(?:[\w.]{1,80}\.)?_?(?:queue\.)?(?:Empty|Full|CancelledError)(?::|$)",
            r"One of the subprocesses has abruptly died|had an exception: ",
            r"^SystemExit(?:: \d{1,3})?$",
        ),
        errors_only=True,
        confidence=0.3,
        weight=Weight.WRAPPER,
        positives=(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "torch.multiprocessing.spawn.ProcessRaisedException: ",
            "subprocess.CalledProcessError: Command '['python', 'x.py']' returned exit status 1.",
            "ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
            "KeyError: Caught KeyError in DataLoader worker process 0.",
            "RuntimeError: Caught RuntimeError in replica 0 on device 0.",
            "ray.exceptions.RayTaskError(ValueError): ray::train() (pid=12, ip=10.0.0.1)",
            "concurrent.futures.process.BrokenProcessPool: A process in the process pool was",
            "ray.train.base_trainer.TrainingFailedError: The Ray Train run failed.",
            (
                "RuntimeError: One of the subprocesses has abruptly died during map operation."
                "To debug the error, disable multiprocessing."
            ),
            "SystemExit: 1",
            "_queue.Empty",
            "asyncio.exceptions.CancelledError",
        ),
        negatives=("RuntimeError: nothing left", "SystemExit: no data given"),
    ),
)

ANNOUNCING = (
    Rule(
        # asked late: what it announces may stand below it, and is known by its own words
        name="wrapping-exception",
        reason="python_exception",
        pattern=Lazy(
            r"InstantiationException: Error in call to target '|^\w{1,60}Error: in user code:"
            r"|^(?:[\w.]{1,80}\.)?UnfilteredStackTrace: *$|^(?:[\w.]{1,80}\.)?RetryError(?:\[|:)"
            r"|^(?:[\w.]{1,80}\.)?JaxStackTraceBeforeTransformation|Graph execution error:"
            r"|Exception encountered when calling (?:layer |\w{1,60}\.call)"
            r"|^RuntimeError: \w{1,40} worker .{0,40}(?:failed|raised) with (?:an )?(?:error"
            r"|exception)"
        ),
        errors_only=True,
        confidence=0.4,
        weight=Weight.WRAPPER,
        positives=(
            "hydra.errors.InstantiationException: Error in call to target 'src.data.Module':",
            "ValueError: in user code:",
            'ValueError: Exception encountered when calling layer "a" (type Dense).',
            "tenacity.RetryError: RetryError[<Future at 0x7f state=finished raised OSError>]",
            "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:",
        ),
        negatives=("ValueError: in your code", "hydra.errors.InstantiationException: no target"),
    ),
)
