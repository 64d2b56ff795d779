#!/bin/sh
#SBATCH -J ptb
#SBATCH -N 1
#SBATCH --gpus=1
#SBATCH -t 8:00:00
#SBATCH -o ptb-%j.log

H=650
cat > cfg.yaml <<END
data:
  path: data/ptb
  vocab: 10000
  bptt: 70
model:
  kind: lstm
  hidden: $H
  layers: 3
  dropout: 0.5
train:
  bs: 40
  eval_bs: 10
  opt: {name: adam, lr: 0.002}
  max_epoch: 55
  patience: 5
  clip: 0.25
  save: save/ptb$H
END

exec python -m lm.train_lm cfg.yaml
