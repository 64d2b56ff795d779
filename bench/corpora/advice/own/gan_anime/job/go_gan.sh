#!/bin/bash
#SBATCH --gres=gpu:v100:1
#SBATCH --nodes=1
#SBATCH --time=23:59:59
export BS=112
singularity run --nv ~/images/pt.sif python dcgan.py
