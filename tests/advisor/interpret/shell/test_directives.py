"""What jobs ask their schedulers for, whichever it is."""

import pytest

from schedmate.advisor.interpret.shell import read_directives
from schedmate.advisor.sources.files import SourceFile


def asked(*lines):
    return read_directives(SourceFile("job.sh", "#!/bin/bash\n" + "\n".join(lines) + "\nrun\n"))


@pytest.mark.parametrize(
    ("lines", "gpus", "nodes", "seconds"),
    [
        (["#SBATCH -N 2 --ntasks-per-node=4 --gpus-per-task=1"], 8, 2, None),
        (["#SBATCH -n 4 --tres-per-task=gres/gpu:a100:2"], 8, None, None),
        (["#SBATCH --gres=gpu:a100:4  # four", "#SBATCH --comment=it's"], 4, None, None),
        (["#PBS -l select=2:ncpus=8:ngpus=4+1:ngpus=2,walltime=01:30:00"], 10, 3, 5400),
        (["#PBS -l nodes=1:ppn=8:gpus=2", "#PBS -l walltime=3600"], 2, 1, 3600),
        (["#PBS -l ngpus=4,mem=10gb"], 4, None, None),
        (['#BSUB -gpu "num=2:mode=exclusive_process" -W 24:00', "#BSUB -nnodes 3"], 6, 3, 86400),
        (['#BSUB -n 4 -gpu "num=1/task"', "#BSUB -W 90"], 4, None, 5400),
        (['#BSUB -R "rusage[ngpus_excl_p=2] span[hosts=1]"'], 2, 1, None),
        (["#$ -l gpu=1,h_rt=24:00:00", "#$ -pe smp 8"], 1, None, 86400),
        (["#flux: -N2 --gpus-per-node=4", "#flux: -t 2h"], 8, 2, 7200),
        (["#COBALT -n 2 -t 60"], None, 2, 3600),
        (["# PBS -l ngpus=4", "#$notadirective", "#BSUB"], None, None, None),
    ],
)
def test_gpus_nodes_and_time(lines, gpus, nodes, seconds):
    found = asked(*lines)
    assert (found.gpus and found.gpus[0]) == gpus
    assert found.nodes == nodes
    assert found.time_limit_s == seconds


def test_names_arrays_and_files():
    found = asked('#BSUB -J "grid[1-10]" -o out.%J', "#BSUB -cwd work")
    assert [found.text(name) for name in ("job-name", "array", "output", "chdir")] == [
        *("grid", "1-10", "out.%J", "work"),
    ]


def test_what_slurm_tells_the_job():
    found = asked("#SBATCH --nodes=2", "#SBATCH --ntasks-per-node=4 --gres=gpu:4 -c 8").variables()
    texts = {name: word.text for name, word in found.items()}
    assert texts["SLURM_NNODES"] == texts["SLURM_JOB_NUM_NODES"] == "2"
    assert texts["SLURM_NTASKS"] == "8"
    assert texts["SLURM_GPUS_ON_NODE"] == "4"
    assert texts["SLURM_CPUS_PER_TASK"] == "8"
    assert "SLURM_JOB_ID" not in texts
    assert found["SLURM_NNODES"].evidence[0].line == 2


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("--gres=gpu:h100:2", "h100"),
        ("--gres=gpu:2,lustre:1", None),
        ("--gpus=a100:4", "a100"),
        ("-G 4", None),
        ("--gpus-per-node=mi300x:8", "mi300x"),
        ("--gres=gpu:h100:1,gpu:a100:1", None),
        ("--tres-per-task=gres/gpu:b200:1", "b200"),
    ],
)
def test_the_type_of_gpu_that_is_asked_for(line, kind):
    assert asked(f"#SBATCH {line}").gpu_type == kind
