launch() {
    source ~/venv/bin/activate
    local out="$SCRATCH/$NAME"
    mkdir -p "$out"
    torchrun --standalone --nproc_per_node="$NGPU" code/summarise.py \
        --model "$MODEL" --dataset "$DATASET" --out "$out" \
        --micro "$MICRO" --epochs "$EPOCHS" --lr "$LR" "--$PRECISION" \
        "$@"
}
