#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:1
#SBATCH --job-name=birds
eval "$(conda shell.bash hook)"
conda activate cv
python3 train_birds.py \
  --data.root /data/nabirds --data.batch_size 72 \
  --optim.lr 8e-4 \
  --save.dir=/data/out/birds
