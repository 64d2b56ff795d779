#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gpus-per-node=4
#SBATCH --time=16:00:00
#SBATCH --open-mode=append
source jobs/lib/defaults.sh
source jobs/lib/run.sh

DATASET=EdinburghNLP/xsum
MODEL=facebook/bart-large
NAME=xsum-bart
MICRO=6
LR=3e-5

launch --accum $((120 / (MICRO * NGPU))) --source-len 768
