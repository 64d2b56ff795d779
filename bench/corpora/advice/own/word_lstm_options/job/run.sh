#!/bin/bash
#SBATCH --gres=gpu:1
#SBATCH --time=04:00:00
python train.py --model LSTM --emsize 650 --epochs 30 --lr 5
