# shared by tokenise.py and train.py
TOKENIZER = "gpt2"
CONTEXT = 1024

# train.py only
BATCH_SIZE = 12
ACCUM = 40
LEARNING_RATE = 6e-4
MAX_STEPS = 100_000
CKPT = "ckpt/c4"
