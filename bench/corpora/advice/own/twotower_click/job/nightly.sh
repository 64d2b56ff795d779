#!/bin/bash
# cron: 0 2 * * *
export RECSYS_EPOCHS=15
LOG=/var/log/recsys/nightly.log

run() {
  timeout 3h python recsys/cli.py "$@" >> "$LOG" 2>&1
}

run train --data data/ml-25m --optim adagrad --lr 0.08 --batch-size $((8 * 1024))
