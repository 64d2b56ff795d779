"""How many processes and GPUs there will be, by what launchers and schedulers are told."""

import textwrap

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.processes import Count, processes
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request


def nothing(file, name):
    return None


def started(project, *, command=(), script="", setting=nothing):
    (project / "train.py").write_text("print(1)\n")
    if script:
        (project / "job.sh").write_text(textwrap.dedent(script))
        launch = resolve(Target.from_script(project, "job.sh", ()))
    else:
        launch = resolve(Target.from_command(project, command))
    found = processes(launch.main, setting)
    counts = (found.total, found.per_node, found.devices)
    return tuple(None if count is None else count.number for count in counts)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python train.py", (None, None, None)),
        ("torchrun train.py", (1, 1, 1)),
        ("torchrun --nproc_per_node=8 train.py", (8, 8, 8)),
        ("torchrun --nnodes 2 --nproc-per-node 4 train.py", (8, 4, 4)),
        ("torchrun --nnodes 2:2 --nproc-per-node 4 train.py", (8, 4, 4)),
        ("torchrun --nnodes 1:4 --nproc-per-node 4 train.py", (None, 4, 4)),
        ("torchrun --nproc_per_node=gpu train.py", (None, None, None)),
        ("python -m torch.distributed.launch --nproc_per_node=4 train.py", (4, 4, 4)),
        ("accelerate launch --num_processes 4 train.py", (4, 4, 4)),
        ("accelerate launch --num_processes 8 --num_machines 2 train.py", (8, 4, 4)),
        ("accelerate launch train.py", (None, None, None)),
        ("deepspeed --num_gpus 4 train.py", (4, 4, 4)),
        ("deepspeed --num_gpus 4 --num_nodes 2 train.py", (8, 4, 4)),
        ("deepspeed --include localhost:0,3 train.py", (2, 2, 2)),
        ("deepspeed --hostfile hosts train.py", (None, None, None)),
        ("mpirun -np 6 python train.py", (6, None, None)),
        ("horovodrun -np 4 python train.py", (4, None, None)),
        ("srun -n 4 --gpus-per-task=1 python train.py", (4, 4, 1)),
        ("srun -N 2 --ntasks-per-node=4 python train.py", (8, 4, None)),
        ("env CUDA_VISIBLE_DEVICES=0,2 python train.py", (None, None, 2)),
        ("jsrun -n 4 -a 2 python train.py", (8, None, None)),
    ],
)
def test_launchers_count(tmp_path, command, expected):
    assert started(tmp_path, command=command.split()) == expected


@pytest.mark.parametrize(
    ("asked", "command", "expected"),
    [
        ("--gres=gpu:4", "python train.py", (None, None, 4)),
        ("--gres=gpu:4", "torchrun --nproc_per_node=gpu train.py", (4, 4, 4)),
        ("--nodes=2 --gres=gpu:4", "torchrun --nnodes $SLURM_NNODES --nproc_per_node 4 train.py",
         (8, 4, 4)),
        ("--nodes=2 --ntasks-per-node=4 --gres=gpu:4", "srun python train.py", (8, 4, 4)),
        ("--nodes=2 --gpus-per-node=8", "srun torchrun --nnodes 2 --nproc_per_node 8 train.py",
         (16, 8, 8)),
        ("--nodes=3", "srun python train.py", (3, 1, None)),
        ("--gres=gpu:2", "deepspeed train.py", (2, 2, 2)),
        ("--gres=gpu:4", "CUDA_VISIBLE_DEVICES=1 python train.py", (None, None, 1)),
    ],
)  # fmt: skip
def test_the_scheduler_counts_where_the_launcher_is_told_nothing(
    tmp_path, asked, command, expected
):
    script = f"#!/bin/bash\n#SBATCH {asked}\n{command}\n"
    assert started(tmp_path, script=script) == expected


def test_a_config_of_accelerate_counts(tmp_path):
    settings = {"num_processes": Count(16), "num_machines": Count(2)}
    command = ["accelerate", "launch", "--config_file", "c.yaml", "train.py"]
    found = started(tmp_path, command=command, setting=lambda file, name: settings[name])
    assert found == (16, 8, 8)


def record(project, code, command):
    (project / "train.py").write_text(textwrap.dedent(code))
    target = Target.from_command(project, command.split())
    understood, _ = understand(resolve(target), target.files, Request())
    return understood.workload


@pytest.mark.parametrize(
    "world",
    [
        "int(os.environ['WORLD_SIZE'])",
        "int(os.environ.get('WORLD_SIZE', 1))",
        "torch.distributed.get_world_size()",
        "torch.cuda.device_count()",
        "Accelerator().num_processes",
    ],
)
def test_a_batch_of_all_processes_is_shared(tmp_path, world):
    code = f"""\
    import os
    import torch
    from accelerate import Accelerator
    batch = 256
    world = {world}
    train_loader = torch.utils.data.DataLoader(data, batch_size=batch // world, shuffle=True)
    """
    found = record(tmp_path, code, "torchrun --nproc_per_node=8 train.py").batch_size
    assert found.value == 32
    assert ("train.py", 4) in {(line.file, line.line) for line in found.evidence}


@pytest.mark.parametrize(
    ("wrapped", "command", "batch"),
    [
        ("torch.nn.DataParallel(net)", "env CUDA_VISIBLE_DEVICES=0,1 python train.py", 16),
        ("torch.nn.DataParallel(net, device_ids=[0, 1, 2, 3])", "python train.py", 8),
        ("torch.nn.DataParallel(net)", "python train.py", 32),
        ("net", "env CUDA_VISIBLE_DEVICES=0,1 python train.py", 32),
    ],
)
def test_data_parallel_gpus_share_a_batch(tmp_path, wrapped, command, batch):
    code = f"""\
    import torch
    net = torch.nn.Linear(2, 2)
    net = {wrapped}
    train_loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    """
    assert record(tmp_path, code, command).batch_size.value == batch


def test_what_submitit_submits_is_the_job(tmp_path):
    code = """\
    import os
    import submitit
    import torch
    class Trainer:
        def __init__(self, lr):
            self.lr = lr
        def __call__(self):
            world = submitit.JobEnvironment().num_tasks
            if "SLURM_PROCID" in os.environ:
                torch.nn.parallel.DistributedDataParallel(net)
            torch.optim.SGD(p, lr=self.lr)
            train_loader = torch.utils.data.DataLoader(data, batch_size=512 // world, shuffle=True)
    executor = submitit.AutoExecutor(folder="out")
    executor.update_parameters(nodes=2, gpus_per_node=8, tasks_per_node=8, slurm_partition="gpu")
    executor.submit(Trainer(0.1))
    """
    found = record(tmp_path, code, "python train.py")
    assert (found.nodes.value, found.gpus.value) == (2, 16)
    assert (found.learning_rate.value, found.batch_size.value) == (0.1, 32)
    assert found.parallelism.value == "ddp"


def test_a_job_of_slurm_knows_that_it_is_one(tmp_path):
    code = """\
    import os
    import torch
    world = torch.cuda.device_count()
    if "SLURM_JOB_ID" in os.environ:
        world *= int(os.environ["SLURM_NNODES"])
    loader = torch.utils.data.DataLoader(data, batch_size=1024 // world, shuffle=True)
    """
    found = record(tmp_path, code, "srun --nodes=2 --gres=gpu:8 python train.py")
    assert found.batch_size.value == 64
