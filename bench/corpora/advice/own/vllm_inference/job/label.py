import argparse
import json
import os

from vllm import LLM, SamplingParams

MODEL = "Qwen/Qwen2.5-7B-Instruct"
# MODEL = "meta-llama/Meta-Llama-3-70B-Instruct"
PROMPT = """Which of these does the review complain about?
price, delivery, quality, service, nothing
Answer with one word.

Review: {text}
Answer:"""

p = argparse.ArgumentParser()
p.add_argument("infile")
p.add_argument("outfile")
p.add_argument("--chunk", type=int, default=1000, help="reviews between two writes")
p.add_argument("--temperature", type=float, default=0.0)
args = p.parse_args()

llm = LLM(
    model=MODEL,
    dtype="bfloat16",
    tensor_parallel_size=2,
    max_model_len=8192,
    gpu_memory_utilization=0.92,
    max_num_seqs=256,
)
sampling = SamplingParams(temperature=args.temperature, max_tokens=4, stop=["\n"])

with open(args.infile) as f:
    rows = [json.loads(line) for line in f]
seen = 0
if os.path.exists(args.outfile):
    with open(args.outfile) as f:
        seen = sum(1 for _ in f)
    print(f"{seen} are done already")

with open(args.outfile, "a") as out:
    for i in range(seen, len(rows), args.chunk):
        part = rows[i:i + args.chunk]
        answers = llm.generate([PROMPT.format(text=r["text"][:12000]) for r in part], sampling)
        for row, answer in zip(part, answers):
            row["label"] = answer.outputs[0].text.strip().lower()
            out.write(json.dumps(row) + "\n")
        out.flush()
