#!/bin/bash
#SBATCH --account=cstdl
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gres=gpu:4
#SBATCH --time=12:00:00

SIF=/p/containers/torch_23.10.sif
CONF="--config configs/base.yaml --config configs/deeplab.yaml"

srun apptainer exec --nv -B /p/data,/p/scratch $SIF \
  python -m seg.cli fit $CONF --trainer.max_epochs=200 --trainer.num_nodes=$SLURM_NNODES
