#!/bin/bash
#SBATCH -J molhiv
#SBATCH --nodes=1 --ntasks=1
#SBATCH --gpus-per-task=1
#SBATCH -t 0-05:00
set -e
P="python -u"

# 1) features
$P mol/prepare.py --workers 16 --batch-size 4096 > prepare.txt
# 2) the model
$P mol/train.py -c mol/gine.yaml --lr 9e-4 --epochs 75 > train.txt
# 3) numbers for the table
$P mol/test.py --weights ckpt/gine/best.pt --batch-size 1024 --runs 10 > test.txt
