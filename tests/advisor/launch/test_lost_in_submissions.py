"""Submissions within scripts, directives of other schedulers, and sweeps."""

import pytest

from advisor.launch.trees import EVALUATE, Tree, assert_found

SUBMISSIONS = (
    Tree(
        "sbatch as the command",
        """\
        === x.sh
        #!/bin/bash
        #SBATCH -N 1 --gpus-per-node=2
        srun python train.py "$@"
        """,
        "-- sbatch -N 4 x.sh --epochs 9",
        more=(("nodes", 4), ("gpus", 8)),
    ),
    Tree(
        "sbatch inside of a substitution, evaluation behind it",
        f"""\
        === evaluate.py
        {EVALUATE.splitlines()[0]}
        === train.sh
        python train.py --epochs $1
        === eval.sh
        python evaluate.py
        === submit.sh
        jid=$(sbatch --parsable --gres=gpu:2 train.sh 9)
        sbatch --dependency=afterok:$jid eval.sh
        """,
        "submit.sh",
        more=(("gpus", 2),),
    ),
    Tree(
        "sbatch with exported values",
        """\
        === x.sh
        python train.py --epochs $EPOCHS
        === submit.sh
        sbatch --export=ALL,EPOCHS=9,LR=0.2 x.sh
        """,
        "submit.sh",
    ),
    Tree(
        "a script piped into sbatch",
        """\
        === submit.sh
        E=9
        cat <<EOF | sbatch
        #!/bin/bash
        #SBATCH --nodes=2
        python train.py --epochs $E
        EOF
        """,
        "submit.sh",
        more=(("nodes", 2),),
    ),
    Tree(
        "a script that is written and submitted in a loop",
        """\
        === submit.sh
        for lr in 0.1 0.2; do
          echo "#!/bin/bash" > jobs/$lr.sh
          echo "python train.py --epochs 9 --lr $lr" >> jobs/$lr.sh
          sbatch jobs/$lr.sh
        done
        """,
        "submit.sh",
    ),
    Tree(
        "LSF with its directives, submitted by redirection",
        """\
        === job.lsf
        #!/bin/bash
        #BSUB -nnodes 2 -W 2:00
        #BSUB -gpu "num=4"
        jsrun -n 2 -g 4 python train.py --epochs 9
        """,
        "-- bash -c 'bsub < job.lsf'",
        more=(("gpus", 8), ("nodes", 2)),
    ),
    Tree(
        "PBS with variables on the command line",
        """\
        === job.pbs
        #!/bin/bash
        #PBS -l select=1:ngpus=2
        cd $PBS_O_WORKDIR
        python train.py --epochs $EPOCHS
        """,
        "-- qsub -v EPOCHS=9,LR=0.1 job.pbs",
        more=(("gpus", 2),),
    ),
    Tree("SGE with a binary", "", "-- qsub -cwd -b y -l gpu=1 python train.py --epochs 9"),
    Tree(
        "Flux batch script",
        """\
        === job.sh
        #!/bin/bash
        # flux: -N 2
        # flux: --gpus-per-node=4
        flux run -N 2 -n 8 -g 1 python train.py --epochs 9
        """,
        "-- flux batch -N 2 job.sh",
        more=(("nodes", 2),),
    ),
    Tree(
        "HTCondor submit file",
        """\
        === run.sh
        #!/bin/bash
        python train.py --epochs $1
        === train.sub
        universe = vanilla
        executable = run.sh
        arguments = 9
        request_gpus = 2
        log = logs/train.log
        queue
        """,
        "train.sub",
        more=(("gpus", 2),),
    ),
    Tree(
        "a script for tcsh",
        """\
        === job.csh
        #!/bin/tcsh
        #SBATCH --gpus=1
        set epochs = 9
        setenv OMP_NUM_THREADS 4
        python train.py --epochs $epochs
        """,
        "job.csh",
        more=(("gpus", 1),),
    ),
)

SWEEPS = (
    Tree(
        "an array that picks a line of a file",
        """\
        === configs.txt
        --lr 0.5 --epochs 9
        --lr 0.7 --epochs 9
        === job.sh
        #SBATCH --array=1-2
        PARAMS=$(sed -n "${SLURM_ARRAY_TASK_ID}p" configs.txt)
        python train.py $PARAMS
        """,
        "job.sh",
    ),
    Tree(
        "an array that picks an element",
        """\
        === job.sh
        #SBATCH --array=0-2
        EPOCHS=(9 9 9)
        NAMES=(a b c)
        ID=$SLURM_ARRAY_TASK_ID
        python train.py --epochs ${EPOCHS[$ID]} --name ${NAMES[ID]}
        """,
        "job.sh",
    ),
    Tree(
        "an array that picks a whole command from a file",
        """\
        === commands.txt
        python train.py --epochs 9 --lr 0.5
        python train.py --epochs 9 --lr 0.7
        === job.sh
        #SBATCH --array=1-2
        CMD=$(awk "NR==$SLURM_ARRAY_TASK_ID" commands.txt)
        echo $CMD
        eval $CMD
        """,
        "job.sh",
    ),
    Tree(
        "a loop over configs by a pattern",
        """\
        === configs/a.yaml
        lr: 0.1
        === configs/b.yaml
        lr: 0.2
        === job.sh
        for config in configs/*.yaml; do
          python train.py --config $config --epochs 9
        done
        """,
        "job.sh",
    ),
    Tree(
        "xargs with a placeholder",
        """\
        === job.sh
        ls configs/*.yaml | xargs -P 2 -I{} python train.py --epochs 9 --config {}
        """,
        "job.sh",
    ),
    Tree(
        "xargs that runs shell text",
        """\
        === job.sh
        seq 1 3 | xargs -I {} sh -c 'python train.py --epochs 9 --name run{}'
        """,
        "job.sh",
    ),
    Tree(
        "parallel over commands in a file",
        """\
        === commands.txt
        python train.py --epochs 9 --lr 0.5
        python train.py --epochs 9 --lr 0.7
        === job.sh
        parallel -j 2 < commands.txt
        """,
        "job.sh",
    ),
    Tree(
        "parallel with inputs",
        """\
        === job.sh
        parallel --jobs 2 python train.py --epochs 9 --lr {1} --name {2} ::: 0.1 0.2 ::: a b
        """,
        "job.sh",
    ),
    Tree(
        "a loop over the lines of a file",
        """\
        === names.txt
        a
        b
        === job.sh
        while read -r name; do
          srun -n1 python train.py --epochs 9 --name "$name" &
        done < names.txt
        wait
        """,
        "job.sh",
    ),
)


@pytest.mark.parametrize("tree", [*SUBMISSIONS, *SWEEPS], ids=lambda tree: tree.name)
def test_the_program_is_found(tree, tmp_path):
    assert_found(tree, tmp_path)
