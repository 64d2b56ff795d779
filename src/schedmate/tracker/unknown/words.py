"""Words that stand near numbers. They help where they are known; nothing depends on them."""

from __future__ import annotations

from typing import Final

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit


def vocabulary(text: str) -> frozenset[str]:
    return frozenset(text.split())


EPOCHS: Final = vocabulary(
    "epoch epochs ep epoche epochen époque époques epoca epocas época épocas эпоха эпохи"
    " 轮 轮次 エポック epok epoka"
)
SAMPLES: Final = vocabulary(
    "sample samples image images img imgs example examples file files record records row rows"
    " doc docs document documents sequence sequences seqs video videos clip clips molecule"
    " molecules patient patients item items bild bilder datei dateien page pages entry entries"
    " read reads point points"
)
TOKENS: Final = frozenset({"token", "tokens", "tok", "toks"})
STEPS: Final = vocabulary(
    "step steps nstep nsteps iter iters iteration iterations it itr update updates batch batches"
    " minibatch minibatches mb episode episodes eps frame frames round rounds gen generation"
    " generations cycle cycles trial trials fold folds processed done completed complete progress"
    " finished schritt schritte étape étapes etape etapes paso pasos iteración iteracion iterazione"
    " passo passi tour lot lots runde runden шаг шага шагов итерация прогресс 步 步数 第 迭代 进度"
    " 已完成 完成 ステップ steg krok timestep timesteps ts tick ticks sweep sweeps evaluation"
    " evaluations evals task tasks chunk chunks shard shards part parts job jobs snapshot"
    " snapshots game games move moves fortschritt verarbeitet avancement progreso progresso"
)
TOTALS: Final = vocabulary(
    "total max maximum gesamt insgesamt target goal end planned всего totale totaal maxiter"
)
LEFT: Final = vocabulary(
    "left remaining remain remains todo rest togo missing pending verbleibend restant restants"
    " restante restantes осталось 剩余 残り outstanding queued waiting"
)
DONE_SHARE: Final = vocabulary(
    "progress done complete completed finished fraction frac fortschritt fertig avancement"
    " progreso progresso прогресс готово 进度 完成 进行 進捗"
)
TIMES: Final = vocabulary(
    "time elapsed wall walltime wallclock clock sec secs second seconds minutes minute min hour"
    " hours hrs duration runtime took zeit dauer temps tiempo tempo время timestamp uptime cpu"
    " dt ms since ago"
)
ETAS: Final = frozenset({"eta", "etc", "left", "remaining", "remain", "rest", "restzeit"})
NO_COUNT: Final = vocabulary(
    "loss acc accuracy correct right hits lr rate mem memory ram vram rss heap gpu util usage used"
    " temp temperature power watt norm grad reward return score auc f1 map ppl perplexity port pid"
    " id uid ids seed rank ranks worker workers thread threads node nodes device dev process line"
    " size version level world host code status errno size bytes byte offset address addr latency"
    " ping length error errors warning warnings retries retry attempt attempts request requests"
    " req connection connections client clients session sessions user users cache hit gc best"
    " energy pressure velocity price subprocess lineno channel channels"
    " throughput speed bandwidth eps_greedy epsilon buffer replay queue layer layers rev build"
)
NO_TOTAL: Final = NO_COUNT | vocabulary(
    "bs batch batchsize batch_size bsz hidden dim dims d_model width height channels heads head"
    " seq seqlen seq_len len ctx context vocab params parameters gpus cores cpus beam k topk n_gpu"
    " patience accum accumulation res resolution every interval freq frequency warmup horizon"
    " window depth bins kernel stride group groups dp tp pp devices replicas replica shots"
)
NAMED_THINGS: Final = vocabulary(
    "request requests req client clients user users session sessions line lines node nodes id ids"
    " host hosts connection connections"
)
"""Counted by servers without end, unless a total stands right behind."""
OVERALL: Final = vocabulary("overall total global cumulative altogether insgesamt gesamt")
"""Before the count of the whole, where a line also counts a part."""
DATA: Final = vocabulary("shard shards file files chunk chunks part parts split splits")
"""What the training data is stored in."""
AUXILIARY: Final = vocabulary(
    "eval evaluating evaluation evaluate val valid validation validating test testing loading load"
    " loaded download downloading downloaded warmup warm-up warming compile compiling preprocessing"
    " tokenizing indexing caching extracting copying prefetch fetching fetched reading opened"
    " passed failed skipped collected linked built installed"
)
SIZE_UNITS: Final = vocabulary("b kb mb gb tb kib mib gib tib byte bytes gbit mbit gbps mbps")
MEASURES: Final = SIZE_UNITS | vocabulary("w kw watt watts v mv c °c f hz khz mhz ghz rpm db")
TIME_UNITS: Final = vocabulary(
    "s sec secs second seconds ms us µs min mins minute minutes h hr hrs hour hours"
)
_PIECES = lazy_pattern(r"[^\W\d_]+")


def pieces(text: str) -> list[str]:
    """The lower-case words of a name: `global_step` is `global` and `step`."""
    return _PIECES.findall(text.lower())


def names(text: str, vocabulary: frozenset[str]) -> bool:
    return text in vocabulary or not vocabulary.isdisjoint(pieces(text))


def unit_of(*near: str) -> Unit:
    for text in near:
        if names(text, EPOCHS):
            return "epoch"
        if names(text, TOKENS):
            return "token"
        if names(text, SAMPLES):
            return "sample"
    return "step"
