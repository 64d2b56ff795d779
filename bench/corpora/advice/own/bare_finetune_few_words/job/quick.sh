#!/bin/bash
#SBATCH -J quick
#SBATCH -t 1:00:00
#SBATCH --mem=32G
# just to see whether the node works
python quick.py
