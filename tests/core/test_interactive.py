from __future__ import annotations

import shlex

import pytest

from schedmate.core import is_interactive

WAITING = [
    "jupyter lab --no-browser --port 8888",
    "/opt/conda/bin/jupyter-notebook --ip 0.0.0.0",
    "python -m ipykernel_launcher -f kernel.json",
    "jupyterhub-singleuser",
    "code-server --bind-addr 0.0.0.0:8080",
    "code tunnel --accept-server-license-terms",
    "srun --ntasks 1 --pty bash -l",
    "salloc -N 1",
    "bash -i",
    "tensorboard --logdir runs",
    "sleep infinity",
    "sleep 86400",
    "sleep 8h",
    "tail -f /dev/null",
    "vllm serve meta/model",
    "python -m vllm.entrypoints.openai.api_server --model m",
    "ray start --block --head",
    "dask-scheduler",
    "snakemake --jobs 100",
    "sbatch --wait child.sh",
    "wandb agent me/project/abc",
    "python -m http.server 8000",
]
COMPUTING = [
    "python train.py --name jupyter",
    "python /home/me/jupyter/train.py",
    "python tensorboard_writer.py",
    "torchrun --nproc-per-node 8 train.py --sleep 5",
    "srun python train.py",
    "bash train.sh",
    "python serve_dataset.py",
    "sleep 60",
    "mpirun -n 4 ./solver",
    "papermill analysis.ipynb out.ipynb",
]


@pytest.mark.parametrize("command", WAITING)
def test_a_job_that_waits_for_somebody_is_known_by_what_it_runs(command):
    assert is_interactive("job", shlex.split(command), None)
    assert is_interactive("job", ("job.sh",), f"#!/bin/bash\nmodule load x\nexec {command}\n")
    assert is_interactive("job", ("bash", "-c", f"cd /tmp && {command} &> log"), None)


@pytest.mark.parametrize("command", COMPUTING)
def test_a_job_that_computes_is_not(command):
    assert not is_interactive("job", shlex.split(command), None)
    assert not is_interactive("job", ("job.sh",), f"#!/bin/bash\n# jupyter lab\n{command}\n")


def test_the_name_and_the_lack_of_a_program_tell_too():
    assert is_interactive("interactive", ("python", "a.py"), None)
    assert is_interactive("sys/dashboard/sys/bc_desktop", ("script.sh",), "#!/bin/bash\n./go\n")
    assert is_interactive("mine", (), "")
    assert is_interactive("mine", ("/bin/bash",), None)
