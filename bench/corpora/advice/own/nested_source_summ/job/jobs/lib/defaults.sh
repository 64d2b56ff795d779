# values that most runs share
SCRATCH=/scratch/sum
NGPU=4
MICRO=16
EPOCHS=5
LR=1e-4
PRECISION=bf16
