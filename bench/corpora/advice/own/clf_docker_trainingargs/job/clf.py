import os

import numpy as np
import evaluate
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments

#CHECKPOINT = "bert-base-uncased"
#CHECKPOINT = "roberta-large"   # OOM
CHECKPOINT = "distilbert-base-uncased"
MAX_LEN = 192   # was 256
BATCH = 32
EFFECTIVE = 32

raw = load_dataset("ag_news")
split = raw["train"].train_test_split(test_size=0.05, seed=1)
tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)


def tok(batch):
    return tokenizer(batch["text"], truncation=True, max_length=MAX_LEN)


train = split["train"].map(tok, batched=True)
dev = split["test"].map(tok, batched=True)
test = raw["test"].map(tok, batched=True)

model = AutoModelForSequenceClassification.from_pretrained(CHECKPOINT, num_labels=4)

acc = evaluate.load("accuracy")


def metrics(ev):
    logits, labels = ev
    return acc.compute(predictions=np.argmax(logits, axis=-1), references=labels)


STEPS = int(os.environ.get("SAVE_STEPS", 1000))

args = TrainingArguments(
    output_dir=os.path.join("results", "agnews"),
    num_train_epochs=4,
    per_device_train_batch_size=BATCH,
    per_device_eval_batch_size=BATCH * 4,
    gradient_accumulation_steps=EFFECTIVE // BATCH,
    learning_rate=3e-5,
    warmup_ratio=0.06,
    weight_decay=0.01,
    optim="adamw_torch_fused",
    fp16=True,
    evaluation_strategy="steps",
    eval_steps=STEPS,
    save_steps=STEPS,
    save_total_limit=2,
    load_best_model_at_end=True,
    metric_for_best_model="accuracy",
    logging_dir="tb",
    report_to="none",
    # max_steps=50,
)

trainer = Trainer(
    model=model,
    args=args,
    train_dataset=train,
    eval_dataset=dev,
    tokenizer=tokenizer,
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=metrics,
    callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
)
trainer.train()
print(trainer.evaluate(test))
trainer.save_model("results/agnews/best")
