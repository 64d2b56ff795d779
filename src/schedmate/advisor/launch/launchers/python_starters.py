"""Programs that start a Python file or module themselves."""

from __future__ import annotations

from schedmate.advisor.launch.launchers.base import Launcher, launcher

_TORCHRUN = launcher(
    "--nproc_per_node --nproc-per-node --nnodes --node_rank --node-rank --master_addr "
    "--master-addr --master_port --master-port --rdzv_endpoint --rdzv-endpoint --rdzv_backend "
    "--rdzv-backend --rdzv_id --rdzv-id --max_restarts --max-restarts",
    flags="--standalone --no_python --run_path --use_env --help -h --enable_each_rank_log "
    "--use_agent_store",
    starts_python=True,
)
_ACCELERATE = launcher(
    "--config_file --num_processes --num_machines --machine_rank --main_process_port "
    "--main_process_ip --mixed_precision --gpu_ids --zero_stage --deepspeed_config_file",
    verbs="launch",
    flags="-h --help -q --quiet --cpu --multi_gpu --tpu --ipex --use_xpu --use_deepspeed "
    "--use_fsdp --use_megatron_lm --use_tp --use_parallelism_config --debug --no_python "
    "--same_network --enable_cpu_affinity --tpu_cluster --no_tpu_cluster --tpu_use_sudo --use_ipex "
    "--downcast_bf16 --aws_access_key_id --dynamo_use_fullgraph --dynamo_use_dynamic "
    "--dynamo_use_regional_compilation",
    starts_python=True,
)
_DEEPSPEED = launcher(
    "--num_gpus --num_nodes --hostfile -H --include -i --exclude -e --master_addr --master_port",
    flags="--no_python --no_local_rank --save_pid --no_ssh_check --no_ssh --force_multi "
    "--elastic_training --bind_cores_to_rank -h --help",
    starts_python=True,
)
_LIGHTNING = launcher(verbs="run run+model", flags="-h --help", starts_python=True)
_PROFILED = launcher("-o --outfile -s --sort", starts_python=True)
_TRACED = launcher("-o --output_file --max_stack_depth --tracer_entries", starts_python=True)
_DEBUGGED = launcher("--listen --configure-subProcess --pid -c", starts_python=True)
_COVERAGE = launcher(
    "--source --omit --include --rcfile --data-file", verbs="run", starts_python=True
)
_PLAIN = launcher(starts_python=True)

PYTHON_STARTERS: dict[str, Launcher] = {
    "torchrun": _TORCHRUN,
    "torchpippy": _TORCHRUN,
    "accelerate": _ACCELERATE,
    "accelerate-launch": launcher(
        " ".join(_ACCELERATE.valued),
        flags=" ".join(_ACCELERATE.flags or ()),
        starts_python=True,
    ),
    "deepspeed": _DEEPSPEED,
    "ds": _DEEPSPEED,
    "colossalai": launcher(verbs="run", flags="--ssh-port -m", starts_python=True),
    "composer": launcher(
        flags="-v --verbose --version -m --module_mode -c --command_mode", starts_python=True
    ),
    "lightning": _LIGHTNING,
    "fabric": _LIGHTNING,
    "bagua.distributed.launch": _TORCHRUN,
    "coverage": _COVERAGE,
    "ipython": launcher("--profile -c", starts_python=True),
    "ipython3": launcher("--profile -c", starts_python=True),
    "kernprof": launcher("-o --outfile -s --setup", starts_python=True),
    "scalene": launcher("--outfile --cpu-percent-threshold --profile-interval", starts_python=True),
    "viztracer": _TRACED,
    "memray": launcher("-o --output", verbs="run", starts_python=True),
    "fil-profile": launcher("-o", verbs="run", starts_python=True),
    "pudb": _PLAIN,
    "ipdb3": _PLAIN,
    "debugpy": _DEBUGGED,
}

PYTHON_MODULES: dict[str, Launcher] = {
    "torch.distributed.run": _TORCHRUN,
    "torch.distributed.launch": _TORCHRUN,
    "torch.distributed.elastic.multiprocessing": _TORCHRUN,
    "paddle.distributed.launch": launcher(flags="", starts_python=True),
    "accelerate.commands.launch": PYTHON_STARTERS["accelerate-launch"],
    "deepspeed.launcher.runner": _DEEPSPEED,
    "lightning": _LIGHTNING,
    "cProfile": _PROFILED,
    "profile": _PROFILED,
    "coverage": _COVERAGE,
    "pdb": launcher("-c --command", starts_python=True),
    "ipdb": launcher("-c", starts_python=True),
    "pudb": _PLAIN,
    "debugpy": _DEBUGGED,
    "trace": launcher("-f --file -C --coverdir", starts_python=True),
    "viztracer": _TRACED,
    "scalene": PYTHON_STARTERS["scalene"],
    "memory_profiler": launcher("-o", starts_python=True),
    "memray": PYTHON_STARTERS["memray"],
    "kernprof": PYTHON_STARTERS["kernprof"],
    "torch.utils.bottleneck": _PLAIN,
    "IPython": PYTHON_STARTERS["ipython"],
}

_BY_GPU = (_TORCHRUN, _ACCELERATE, PYTHON_STARTERS["accelerate-launch"], _DEEPSPEED)
SPAWNERS = frozenset(
    name for name, each in (PYTHON_STARTERS | PYTHON_MODULES).items() if each in _BY_GPU
)
"""Those that start one process a GPU and set its `RANK`."""
