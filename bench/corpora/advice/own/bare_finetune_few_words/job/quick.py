from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

name = "EleutherAI/pythia-410m"
tok = AutoTokenizer.from_pretrained(name)
tok.pad_token = tok.eos_token
model = AutoModelForCausalLM.from_pretrained(name)

data = load_dataset("roneneldan/TinyStories", split="train[:1%]")
data = data.map(lambda e: tok(e["text"], truncation=True), remove_columns=["text"])

Trainer(
    model=model,
    args=TrainingArguments("tmp_trainer_out", report_to="none"),
    train_dataset=data,
    data_collator=DataCollatorForLanguageModeling(tok, mlm=False),
).train()
