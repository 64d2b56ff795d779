#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gpus=4
#SBATCH --exclusive
export XLA_PYTHON_CLIENT_PREALLOCATE=false
python main.py --workdir=/scratch/wrn --config=configs/wrn.py --config.optim.lr=0.05 --config.half_precision
