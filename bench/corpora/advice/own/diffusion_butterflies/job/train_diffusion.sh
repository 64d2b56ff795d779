#!/bin/sh
# interactive node, no batch system here
export CUDA_VISIBLE_DEVICES=1
accelerate launch --num_processes 1 ddpm.py --num-epochs=120 --batch 24 1> train.out 2> train.err
