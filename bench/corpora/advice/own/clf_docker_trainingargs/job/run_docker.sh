#!/bin/sh
IMG=${IMG:-registry.lab.local/nlp:2.1}
GPU=${1:-0}

docker run --rm --gpus "device=$GPU" --shm-size 8g \
    -v "$PWD":/app -w /app \
    -e HF_HOME=/app/.hf -e SAVE_STEPS=400 \
    "$IMG" python clf.py > docker_run.log 2>&1
