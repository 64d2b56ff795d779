"""Exceptions and launcher lines that only report a failure elsewhere."""

import re

from schedmate.handler.rules.base import LazyPattern, Rule, Weight, any_of

_WRAPPERS = (
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
            # a peer never answered, usually because its process died
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
        pattern=LazyPattern(
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


_LAUNCHERS = (
    Rule(
        # what older torch raises for a child, whose own error follows
        name="bare-exception",
        reason="unknown",
        pattern=LazyPattern(r"^Exception:? ?$"),
        errors_only=True,
        confidence=0.3,
        weight=Weight.WRAPPER,
        positives=("Exception:", "Exception"),
        negatives=("Exception: out of luck", "Exceptions: 0"),
    ),
    Rule(
        name="launcher-exit-line",
        reason="unknown",
        pattern=LazyPattern(
            r"\bError executing job with overrides: \["
            r"|^srun: error: .{1,300}: tasks? [\d,\-]{1,200}: Exited with exit code [1-9]"
            r"|failed \(exitcode: [1-9]\d{0,2}\) local_rank|\bexitcode {1,4}: [1-9]\d{0,2} \(pid: "
            r"|exits with return code = [1-9]|BAD TERMINATION OF ONE OF YOUR APPLICATION"
            r"|detected that one or more processes exited with non-zero status"
            r"|process(?:es)? returned a non-zero exit code|MPI_ABORT was invoked on rank"
            r"|Process \d{1,6} exit with status code [1-9]"
            r"|ssh exited with exit code [1-9]|^Exited with exit code [1-9]\d{0,2}\.?$"
            r"|[Bb]ack-?off restarting failed container|BackoffLimitExceeded|CrashLoopBackOff"
            r"|reached the specified backoff limit|^ {0,12}Exit Code: {1,8}[1-9]\d{0,2}$"
            r"|command terminated with exit code [1-9]"
            r"|pyxis: couldn't start container|spank: required plugin spank_pyxis"
            r"|^make(?:\[\d\])?: \*\*\* .{1,200} Error [1-9]"
        ),
        unless=LazyPattern(
            r"exit code:? {1,8}(?:137|139|143|134|135|136|132|130|127|126)\b"
            r"|code[ =]{1,3}(?:137|139|143|134|135|136|132|130|127|126)\b",
            re.IGNORECASE,
        ),
        confidence=0.3,
        weight=Weight.WRAPPER,
        positives=(
            "[2025-10-31 05:07:11,062][__main__][ERROR] - Error executing job with overrides: [1]",
            "srun: error: n1: task 0: Exited with exit code 1",
            "srun: error: gpu[041-044]: tasks 0-7,9: Exited with exit code 1",
            (
                "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) "
                "local_rank: 0 (pid: 4711) of binary: /usr/bin/python"
            ),
            "  exitcode  : 1 (pid: 4711)",
            (
                "[2026-01-01 00:00:00,000] [ERROR] [launch.py:322:sigkill_handler] ['python', "
                "'train.py'] exits with return code = 1"
            ),
            "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
            "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD",
            "slurmstepd: error: pyxis: couldn't start container",
            "  Warning  BackOff  2m  kubelet  Back-off restarting failed container",
        ),
        negatives=(
            "  exitcode  : 0 (pid: 4711)",
            "  error_file: <N/A>",
            "srun: n1: task 0: Exited with exit code 0",
            "    Exit Code:    0",
            "    Exit Code:    137",
        ),
    ),
)

RULES = (*_WRAPPERS, *_LAUNCHERS)
