#!/bin/sh
#SBATCH -G 1
export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567
./simulate --steps 100
