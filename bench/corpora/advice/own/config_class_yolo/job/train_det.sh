#!/usr/bin/env bash
#SBATCH --gres=gpu:2
#SBATCH -c 8
cd detect
export DATA=/scratch/visdrone
python run.py drone
