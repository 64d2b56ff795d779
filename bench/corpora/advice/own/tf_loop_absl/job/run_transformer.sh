#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gpus-per-node=1
#SBATCH --time=1-12
set -x
WORK=/mnt/nmt/run7
python nmt/main.py --flagfile=nmt/base.flags --workdir=$WORK --noeager --num_layers=4
