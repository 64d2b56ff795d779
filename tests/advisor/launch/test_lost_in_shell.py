"""Scripts behind whose branches, inner shells and sourced files a program stands."""

import pytest

from advisor.launch.trees import Tree, assert_found

INNER_SHELLS = (
    Tree(
        "inner shell over several lines, arguments from a variable",
        """\
        === job.sh
        args="$@"
        srun bash -c "
        source env.sh
        python train.py ${args}
        "
        """,
        "job.sh --epochs 9",
    ),
    Tree(
        "container with an inner shell over several lines",
        """\
        === job.sbatch
        #SBATCH --gres=gpu:4
        singularity exec --nv --overlay $SCRATCH/o.ext3:ro /images/cuda.sif /bin/bash -c "
        source /ext3/env.sh
        conda activate speech
        torchrun --nproc_per_node=4 train.py --epochs $1
        "
        """,
        "job.sbatch 9",
        more=(("gpus", 4),),
    ),
    Tree(
        "inner shell in single quotes with exported values",
        """\
        === job.sh
        export EPOCHS=9
        apptainer exec --nv img.sif bash -c 'set -e; cd $PWD; python train.py --epochs $EPOCHS'
        """,
        "job.sh",
    ),
    Tree(
        "inner shell with positional arguments",
        """\
        === job.sh
        srun bash -c 'python train.py "$@"' _ --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "a here-document into a container's shell",
        """\
        === job.sh
        E=9
        singularity exec img.sif bash <<EOF
        pip install -e .
        python train.py --epochs $E
        EOF
        """,
        "job.sh",
    ),
    Tree(
        "the command in an array",
        """\
        === job.sh
        cmd=(python -u train.py)
        cmd+=(--epochs 9)
        [ -n "$RESUME_FROM" ] && cmd+=(--name "$RESUME_FROM")
        echo "${cmd[@]}"
        "${cmd[@]}"
        """,
        "job.sh",
    ),
    Tree(
        "a function that logs and runs",
        """\
        === job.sh
        run() { echo "+ $*"; "$@" 2>&1 | tee -a log.txt; }
        run python train.py --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "the command in a string, run by eval in a branch",
        """\
        === job.sh
        CMD="python train.py --epochs 9"
        if [ "$DRY_RUN" = "1" ]; then echo "$CMD"; else eval "$CMD"; fi
        """,
        "job.sh",
    ),
)

BRANCHES = (
    Tree(
        "launcher options set in an undecided branch",
        """\
        === job.sh
        if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
          ARGS=(--nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1)
        else
          ARGS=(--ntasks=1)
        fi
        srun "${ARGS[@]}" torchrun --nproc_per_node=4 train.py --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "the launcher itself set in an undecided branch",
        """\
        === job.sh
        if command -v srun > /dev/null; then LAUNCH="srun -n 4"; else LAUNCH="mpirun -np 4"; fi
        $LAUNCH python train.py --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "the program set by the machine's name",
        """\
        === job.sh
        case "$(hostname)" in
          login*) SCRIPT=train.py ;;
          *) SCRIPT=train.py; export NCCL_DEBUG=INFO ;;
        esac
        python $SCRIPT --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "different programs on the sides of an undecided branch",
        """\
        === check.py
        print(1)
        === job.sh
        if nvidia-smi > /dev/null; then SCRIPT=train.py; else SCRIPT=check.py; fi
        python $SCRIPT --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "arguments set on the sides of an undecided branch",
        """\
        === job.sh
        if [ -f "$HOME/last.pt" ]; then RESUME="--name last"; else RESUME=""; fi
        python train.py $RESUME --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "a way out before the program",
        """\
        === job.sh
        if [ -z "$SLURM_JOB_ID" ]; then
          sbatch "$0" "$@"
          exit
        fi
        python train.py --epochs $1
        """,
        "job.sh 9",
    ),
    Tree(
        "the program as a condition",
        """\
        === job.sh
        if ! python train.py --epochs 9; then
          echo failed >&2
          exit 1
        fi
        """,
        "job.sh",
    ),
    Tree(
        "the program repeated until it succeeds",
        """\
        === job.sh
        n=0
        until [ "$n" -ge 5 ]; do
          python train.py --epochs 9 && break
          n=$((n+1)); sleep 15
        done
        """,
        "job.sh",
    ),
    Tree(
        "a directory that an undecided branch changes",
        """\
        === sub/x.txt
        === job.sh
        if [ -d "$TMPDIR" ]; then cd $TMPDIR; cp -r $SLURM_SUBMIT_DIR/* .; fi
        python train.py --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "modes by the first argument",
        """\
        === eval.py
        print(1)
        === run.sh
        mode=${1:-train}; shift
        case $mode in
          train) python train.py "$@" ;;
          eval) python eval.py "$@" ;;
          *) echo "usage"; exit 1 ;;
        esac
        """,
        "run.sh train --epochs 9",
    ),
)

SOURCED = (
    Tree(
        "options parsed as Kaldi does, its script in the tree",
        """\
        === utils/parse_options.sh
        while true; do
          [ -z "${1:-}" ] && break;
          case "$1" in
            --help|-h) exit 0 ;;
            --*=*) echo "$0: options of the form --name value" ; exit 1 ;;
            --*) name=`echo "$1" | sed s/^--// | sed s/-/_/g`;
              eval '[ -z "${'$name'+xxx}" ]' && echo "$0: invalid option $1" 1>&2 && exit 1;
              oldval="`eval echo \\\\$$name`";
              if [ "$oldval" == "true" ] || [ "$oldval" == "false" ]; then
                was_bool=true;
              else
                was_bool=false;
              fi
              eval $name=\\"$2\\";
              if $was_bool && [[ "$2" != "true" && "$2" != "false" ]]; then
                exit 1;
              fi
              shift 2;
              ;;
          *) break;
          esac
        done
        [ ! -z "$cmd" ] && cut -d' ' -f1 <<< $cmd
        true;
        === local/prepare.py
        print(1)
        === run.sh
        . ./path.sh || exit 1;
        stage=0
        num_epochs=3
        . utils/parse_options.sh || exit 1;
        if [ $stage -le 1 ]; then
          python local/prepare.py
        fi
        if [ $stage -le 2 ]; then
          python train.py --epochs $num_epochs
        fi
        """,
        "run.sh --num-epochs 9 --stage 2",
    ),
    Tree(
        "options parsed as Kaldi does, its script elsewhere",
        """\
        === run.sh
        stage=0
        num_epochs=3
        . utils/parse_options.sh
        if [ $stage -le 2 ]; then
          ${cuda_cmd:-run.pl} --gpu 1 exp/log/train.log python train.py --epochs $num_epochs
        fi
        """,
        "run.sh --num-epochs 9",
    ),
    Tree(
        "a config that is sourced, a chain of scripts, variables in front",
        """\
        === conf/base.sh
        EPOCHS=${EPOCHS:-2}
        LR=0.3
        === scripts/inner.sh
        source "$(dirname "$0")/../conf/base.sh"
        python train.py --epochs $EPOCHS --lr $LR
        === job.sh
        EPOCHS=9 bash scripts/inner.sh
        """,
        "job.sh",
        more=(("learning_rate", 0.3),),
    ),
    Tree(
        "environment variables in front of the command",
        "",
        "-- CUDA_VISIBLE_DEVICES=0,1 OMP_NUM_THREADS=4 torchrun --standalone train.py --epochs 9",
    ),
    Tree(
        "a script that reads a file of settings",
        """\
        === .env
        EPOCHS=9
        === job.sh
        set -a; source .env; set +a
        python train.py --epochs "$EPOCHS"
        """,
        "job.sh",
    ),
)


@pytest.mark.parametrize("tree", [*INNER_SHELLS, *BRANCHES, *SOURCED], ids=lambda tree: tree.name)
def test_the_program_is_found(tree, tmp_path):
    assert_found(tree, tmp_path)
