#!/bin/bash
#SBATCH --partition=students
#SBATCH --gres=gpu:1
#SBATCH --mem=16G

# version 1 = my old cnn, version 2 = crnn
V=$1
if [ "$V" == "" ]; then V=1; fi
mkdir -p exp
if [ $V -eq 1 ]; then
    python train.py --epochs 100 --lr 0.01
else
    python -u train$V.py params.json > exp/log_$V.txt
fi
#python test.py exp/crnn_a/best.pt 512
