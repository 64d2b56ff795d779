#!/usr/bin/env bash
set -euo pipefail

usage() { echo "usage: $0 [-m model] [-b batch] [-e epochs] [-l lr] [-x name] [-n]"; exit 1; }

model=resnet18
batch=128
epochs=120
lr=0.05
name=exp
dry=0

while getopts "m:b:e:l:x:nh" opt; do
  case $opt in
    m) model=$OPTARG ;;
    b) batch=$OPTARG ;;
    e) epochs=$OPTARG ;;
    l) lr=$OPTARG ;;
    x) name=$OPTARG ;;
    n) dry=1 ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))

mkdir -p logs
cmd=(python -u train_cifar.py "$model" --batch "$batch" --epochs "$epochs" --lr "$lr")
cmd+=(--ckpt "/scratch/ckpt/$name" --resume auto)

if [[ $dry == 1 ]]; then
  echo "${cmd[@]}"
  exit 0
fi
"${cmd[@]}" "$@" &> "logs/$name.txt"
