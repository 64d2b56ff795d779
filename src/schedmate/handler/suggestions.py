"""A reason in a few words, and what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schedmate.handler.memory_advice import more_on_the_host, smaller_on_the_gpu
from schedmate.handler.message_advice import advice_from_message

if TYPE_CHECKING:
    from schedmate.model import Workload

_TABLE: Final[dict[str, tuple[str, str]]] = {
    "gpu_ecc": ("a GPU has memory errors", "report the node; nothing in the job needs changing"),
    "gpu_lost": ("a GPU disappeared", "report the node; nothing in the job needs changing"),
    "gpu_hardware": ("a GPU failed", "report the node; nothing in the job needs changing"),
    "nvlink": (
        "the link between GPUs failed",
        "report the node; nothing in the job needs changing",
    ),
    "driver_mismatch": (
        "the GPU driver does not fit the CUDA runtime",
        "report the node, or use a build for the driver that nvidia-smi shows",
    ),
    "nccl_timeout": (
        "a collective operation timed out and no rank says why",
        "look for the rank that stopped first; NCCL_DEBUG=INFO shows where it waits",
    ),
    "nccl_remote": (
        "a rank lost its peers",
        "look at the other ranks' logs; if none shows an error, report the nodes",
    ),
    "network": ("the network between nodes failed", "report the nodes"),
    "node_failure": ("the node went away", "resubmit; save checkpoints often enough"),
    "storage_io": ("the file system failed", "wait until the storage is well, then resubmit"),
    "service_unreachable": (
        "a service outside the cluster could not be reached",
        "fetch models and data before the job starts, or set the offline mode of the library",
    ),
    "killed": (
        "it was killed from outside and nothing says why",
        "ask who sent the signal; watch the memory, the kernel may have been it",
    ),
    "preempted": ("it had to make room", "save checkpoints and resume from the last one"),
    "time_limit": (
        "it ran into its time limit",
        "resume from the last checkpoint, or ask for more time with --time",
    ),
    "cancelled": ("it was cancelled", "nothing to mend"),
    "host_oom": (
        "the host's memory was not enough",
        "ask for more memory with --mem, or use fewer data-loader workers and load less at once",
    ),
    "gpu_oom": (
        "the GPU's memory was not enough",
        "halve the batch size, turn on gradient checkpointing or use a lower precision",
    ),
    "cuda_illegal_access": (
        "a CUDA kernel touched memory that is not its own",
        "run once with CUDA_LAUNCH_BLOCKING=1 to see which kernel; update that extension",
    ),
    "cuda_assert": (
        "an assertion in a CUDA kernel failed",
        (
            "check labels and indices against the number of classes or embeddings; on the CPU the "
            "message is clearer"
        ),
    ),
    "cuda_unsupported": (
        "this build does not support the GPU",
        "install a build for this GPU's compute capability, or ask for another GPU type",
    ),
    "cuda_error": (
        "the CUDA runtime reported an error",
        "run once with CUDA_LAUNCH_BLOCKING=1 to see where it comes from",
    ),
    "shm_exhausted": (
        "shared memory was not enough",
        "use fewer data-loader workers or a larger /dev/shm",
    ),
    "fd_limit": (
        "too many files were open",
        "raise ulimit -n or set torch.multiprocessing.set_sharing_strategy('file_system')",
    ),
    "dataloader_killed": (
        "a data-loader worker was killed",
        "use fewer workers or ask for more memory; num_workers=0 shows the real error",
    ),
    "port_conflict": (
        "the port for the rendezvous was taken",
        "choose a free port (--master_port or --rdzv-endpoint with port 0)",
    ),
    "rendezvous": (
        "the ranks did not find each other",
        "check that every rank starts and that address, port and world size agree",
    ),
    "hang": (
        "it stopped moving without an error",
        "py-spy dump shows where each rank waits; save checkpoints often enough",
    ),
    "disk_full": ("the disk is full", "make room or write somewhere else"),
    "disk_quota": ("the disk quota is used up", "delete old checkpoints or ask for a larger quota"),
    "checkpoint_corrupt": (
        "a checkpoint cannot be read",
        "resume from the one before; write to a temporary name and rename it when complete",
    ),
    "checkpoint_mismatch": (
        "a checkpoint does not fit the model",
        "load it with the model's settings it was saved with",
    ),
    "loss_nan": (
        "the loss is no number any more",
        "lower the learning rate, clip gradients or use bf16 instead of fp16",
    ),
    "abi_mismatch": (
        "compiled packages do not fit each other",
        "reinstall the named package against the installed Python, numpy and torch",
    ),
    "compile_error": (
        "compilation failed",
        "the compiler's first error above says what is missing",
    ),
    "segfault": (
        "native code crashed",
        "run with python -X faulthandler to see where; suspect extensions compiled elsewhere",
    ),
    "import_error": (
        "a module cannot be imported",
        "install it in the environment that the job activates",
    ),
    "syntax_error": (
        "the code has a syntax error",
        "python -m py_compile finds it before the queue",
    ),
    "name_error": ("a name is not defined", "mend the named line"),
    "attribute_error": ("an object lacks an attribute", "mend the named line or check the version"),
    "type_error": ("a value has the wrong type", "mend the named line"),
    "value_error": ("a value is not acceptable", "check the value that the message names"),
    "key_error": ("a key is missing", "check the config or the data for the named key"),
    "index_error": ("an index is out of range", "check the length at the named line"),
    "zero_division": ("something was divided by zero", "check for empty data at the named line"),
    "assertion_error": ("an assertion of the code failed", "check what the named line asserts"),
    "shape_mismatch": ("tensor shapes do not fit", "check the shapes at the named line"),
    "device_mismatch": (
        "tensors are on different devices",
        "move inputs and model to the same device",
    ),
    "dtype_mismatch": ("tensor types do not fit", "cast to one dtype or use autocast throughout"),
    "autograd_error": ("the backward pass is not possible", "check the graph at the named line"),
    "file_not_found": (
        "a file is missing",
        "check the path; relative ones start from the job's directory",
    ),
    "permission_denied": ("access was refused", "check owner and mode of the named file"),
    "argument_error": (
        "an argument or a config key is wrong",
        "correct the command line; --help lists what is accepted",
    ),
    "data_error": ("the data cannot be read as expected", "check the named sample or file"),
    "auth_error": (
        "access to a service was refused",
        "log in or set the token the service asks for",
    ),
    "command_not_found": (
        "a command was not found",
        "load the module or activate the environment that has it",
    ),
    "python_exception": ("the code raised an exception", "the named line shows where"),
    "unknown": ("nothing in the evidence says why", "the last lines are all there is to go by"),
    "not_failed": ("nothing shows a failure", ""),
}


def meaning(reason: str) -> str:
    return _TABLE[reason][0]


def suggestion(reason: str, workload: Workload | None = None, message: str = "") -> str:
    """What the user should change, in the job's own numbers and the message's own names."""
    own = _specific(reason, workload, message)
    return own or _TABLE[reason][1]


def _specific(reason: str, workload: Workload | None, message: str) -> str:
    if reason == "gpu_oom":
        return smaller_on_the_gpu(workload, message, otherwise=_TABLE[reason][1])
    if reason == "host_oom":
        return more_on_the_host(message)
    if reason == "time_limit" and workload is not None:
        return _more_time(workload)
    return advice_from_message(reason, message)


def _more_time(workload: Workload) -> str:
    saves = workload.checkpoint_every is not None or workload.checkpoint_dir is not None
    if workload.resumes is None and saves:
        return ""
    if workload.proved_resumes:
        return "submit it again: it resumes from its last checkpoint"
    if saves:
        return "let it resume from its last checkpoint, or ask for more time with --time"
    return "ask for more time with --time, or save checkpoints and resume from the last one"
