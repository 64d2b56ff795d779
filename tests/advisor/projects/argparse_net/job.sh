#!/bin/bash
#SBATCH --job-name=net
#SBATCH --nodes=2
#SBATCH --gres=gpu:a100:4
#SBATCH --time=1-12:00:00

EPOCHS=${1:-90}
OPTIONS="--lr 0.001 \
  --bf16"
if [ -n "$DEBUG" ]; then
  BATCH=8
fi

srun --label torchrun --nproc_per_node 4 \
  train.py --epochs $EPOCHS $OPTIONS \
  --batch-size "$BATCH" 2>&1 | tee logs/net.log
