#!/bin/bash
seed=3
nohup python ppo_cont.py --env-id HalfCheetah-v4 --seed $seed --total-timesteps 3_000_000 \
    --learning-rate 2.5e-4 --anneal-lr --save-model > out_$seed.txt 2>&1 &
wait
