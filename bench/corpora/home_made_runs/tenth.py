# ruff: noqa: E501, ARG001 - lines as they are printed, by functions of one form
"""A last set in forms of public code, after the ninth had been read; scored before use."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.fifth import clock, falling
from bench.corpora.home_made_runs.run import Run, at


def bayesian_trend_filter(r: Random) -> Iterator[str]:
    for i in range(100, 12001, 100):
        yield at(i / 12000, f"Iteration {i} of 12000 ")


def log_posterior(r: Random) -> Iterator[str]:
    yield "Laplace's Demon was called on Mon Mar 3"
    for i in range(1, 11):
        yield at(i / 10, f"Iteration:  {i * 1000}  of  10000 ,   LP:  {-900 + i}")


def shrinkage_sampler(r: Random) -> Iterator[str]:
    for i in range(50, 6000, 50):
        yield f"iteration :  {i} , active :  {r.randrange(900)} "
        yield f"xi :  {r.random():.5f} , meff :  {r.random() * 40:.4f} "


def batches_below_epochs(r: Random) -> Iterator[str]:
    yield "num_epochs=8 batch_size=32 lr=0.0005"
    for e in range(8):
        for b in range(0, 700, 100):
            yield at((e + b / 740) / 8, f"Epoch {e} Batch {b} Loss {falling(r, e):.4f}")
        yield at((e + 1) / 8, f"Epoch {e} 完成. 平均损失={falling(r, e):.4f}, 当前学习率=0.000500")


def last_batch_too(r: Random) -> Iterator[str]:
    for e in range(1, 16):
        for b in (*range(20, 312, 20), 312):
            yield at(
                (e - 1 + b / 312) / 15, f"    Epoch {e} batch {b}/312 loss={falling(r, e):.4f}"
            )
        yield at(
            e / 15,
            f"  Epoch {e}/15  train_loss={falling(r, e):.4f}  train_acc={60 + e:.2f}%  val_acc={58 + e:.2f}%",
        )


def milliseconds_of_batches(r: Random) -> Iterator[str]:
    for e in range(30):
        for b in range(12):
            yield f"[Train] Epoch {e} Batch {b} — {r.uniform(30, 40):.2f} ms"
        yield f"[Train] Epoch {e} total — {r.uniform(400, 420):.2f} ms"


def poses(r: Random) -> Iterator[str]:
    for i in range(1000, 50000, 1000):
        yield at(
            i / 50000, f"⏳ Processed {i}/50000 poses... ({r.uniform(800, 900):.1f} poses/sec)"
        )


def split_by_split(r: Random) -> Iterator[str]:
    yield "splits: train (8000 images), val (1000 images), test (1000 images)"
    done = 0
    for name, size in (("train", 8000), ("val", 1000), ("test", 1000)):
        yield f"Processing {name} split ({size} original images)"
        for i in range(0, size, 100):
            yield at((done + i) / 10000, f"{name}: processed {i}/{size} images")
        done += size


def batches_and_tensors(r: Random) -> Iterator[str]:
    yield "inference on 25600 tensors, batch size 16"
    for i in range(0, 1600, 20):
        yield at(i / 1600, f"Processed {i} batches, {i * 16} tensors.")


def max_step_beside(r: Random) -> Iterator[str]:
    for i in range(10, 2001, 10):
        yield at(
            i / 2000,
            f" STEP {i:11d} MAXSTEP        2000 t0           {i % 3} t1           {(i + 1) % 3}",
        )
        yield f" massbegin   {1.0:.15f}       massend   {1 - i * 1e-12:.15f}"


def adapted_particles(r: Random) -> Iterator[str]:
    for i in range(1, 400):
        yield at(i / 500, f" step:  {i:11d}         500")
        yield f" number of particles {r.randrange(9000, 9900)}"


def hydro_header(r: Random) -> Iterator[str]:
    yield " Total Time:   10.0000000000000     "
    yield " Step per Output:          50"
    yield " Max Iteration:     1000000"
    for i in range(50, 4001, 50):
        yield at(i / 4000, f" iter= {i:8d} time=  {i * 0.0025:.10f}     dt=  2.5000000000E-03")


def texture_bar(r: Random) -> Iterator[str]:
    for i in range(100, 5001, 100):
        yield at(
            i / 5000,
            f"Training:  {i // 50:3d}% training step {i}/5000 [{clock(i // 4)[3:]}<{clock((5000 - i) // 4)[3:]}, {r.uniform(3.9, 4.1):.2f}it/s]",
        )


def learn_in_chunks(r: Random) -> Iterator[str]:
    yield "train_steps=20, total_time_steps=50000"
    for i in range(1, 21):
        yield at((i - 1) / 20, f"Start Training Step {i}")
        for t in range(10000, 50001, 10000):
            yield at(
                (i - 1 + t / 50000) / 20,
                f"    time {t // 100}s  timesteps {t}  reward {i + r.random():.2f}",
            )
        yield at(i / 20, f"Finished Training Step {i}")


def steps_in_episodes(r: Random) -> Iterator[str]:
    for i in range(0, 3000, 10):
        yield f"  Training step {i}, episode {i // 40}"


def every_fifth_epoch(r: Random) -> Iterator[str]:
    for e in range(5, 201, 5):
        yield at(e / 200, f"Epoch {e}/200 - Average Loss: {falling(r, e):.4f}")


def validation_error(r: Random) -> Iterator[str]:
    for e in range(1, 90):
        yield f"Epoch {e}  : Validation Error = {falling(r, e):f}"


def seeds_and_epochs(r: Random) -> Iterator[str]:
    yield "running 4 seeds: [0, 1, 2, 3], 25 epochs each"
    for s in range(4):
        yield f"=== seed {s} ==="
        for e in range(25):
            yield at(
                (s + (e + 1) / 25) / 4,
                f"epoch {e:02d} | train {falling(r, e):.4f} | test {falling(r, e) + 0.05:.4f} | acc {0.7 + e / 200:.3f}",
            )


def sizes_to_try(r: Random) -> Iterator[str]:
    yield "grid: 3 learning rates x 4 widths = 12 configurations, 10 epochs each"
    for c in range(12):
        yield f"config {c + 1}/12: lr={10 ** -(c % 3 + 2)}, width={64 * (c // 3 + 1)}"
        for e in range(1, 11):
            yield at(
                (c + e / 10) / 12, f"  epoch {e}: loss {falling(r, e):.4f} acc {0.6 + e / 50:.3f}"
            )


def tokens_in_billions(r: Random) -> Iterator[str]:
    yield "pretraining on 8.5B tokens (1 epoch), seq 2048, global batch 512"
    for i in range(10, 8106, 10):
        yield at(
            i / 8106,
            f"iter {i} | {i * 1.048576e-3:.3f}B tokens | lm loss {falling(r, i / 10):.3f} | grad norm {r.random():.2f} | {r.randrange(180, 190)}k tok/s",
        )


def percent_of_epoch(r: Random) -> Iterator[str]:
    yield "20 epochs, 937 iterations per epoch"
    for e in range(1, 21):
        for p in range(10, 101, 10):
            yield at((e - 1 + p / 100) / 20, f"ep {e} ({p}%) ce {falling(r, e + p / 100):.4f}")


def gan_alternation(r: Random) -> Iterator[str]:
    yield "niter=40, batchSize=64, 1583 batches per epoch"
    for e in range(40):
        for b in range(0, 1583, 200):
            yield at(
                (e + b / 1583) / 40,
                f"[{e}/40][{b}/1583] Loss_D: {r.random():.4f} Loss_G: {falling(r, e):.4f} D(x): {r.random():.4f} D(G(z)): 0.5123 / 0.1234",
            )


def warmup_then_main(r: Random) -> Iterator[str]:
    yield "warmup: 500 iterations; main: 4500 iterations"
    for i in range(50, 501, 50):
        yield at(i / 5000, f"[warmup] it {i:4d} nll {falling(r, i):.3f}")
    for i in range(50, 4501, 50):
        yield at((500 + i) / 5000, f"[main] it {i:4d} nll {falling(r, i):.3f}")


def tree_boosting(r: Random) -> Iterator[str]:
    yield "params: n_trees=600 depth=7 shrinkage=0.05"
    for i in range(5, 601, 5):
        yield at(
            i / 600,
            f"tree {i:5d}  train dev {falling(r, i):.5f}  valid dev {falling(r, i) + 0.1:.5f}  time {i * 0.3:.1f}",
        )


def replicas_in_turn(r: Random) -> Iterator[str]:
    yield "bootstrap: 200 replicates"
    for i in range(200):
        if i % 4 == 0:
            yield at((i + 1) / 200, f"  replicate {i + 1} logL = {-30000 + r.random() * 50:.3f}")
        yield "  optimising branch lengths ..."


def sequence_bins(r: Random) -> Iterator[str]:
    yield "Assembling with k = 21, 33, 55, 77"
    for k in (21, 33, 55, 77):
        yield f"== K{k} =="
        for i in range(1, 11):
            yield f"  0:{k // 2:02d}:{i:02d}.001  {i}G / {i + 1}G  INFO  Processed {i * 4000000} reads"


def videos_by_frames(r: Random) -> Iterator[str]:
    yield "6 videos to process"
    for v in range(1, 7):
        yield f"[{v}/6] clip_{v}.mp4, 3000 frames"
        for f in range(300, 3001, 300):
            yield at((v - 1 + f / 3000) / 6, f"   frame {f}/3000 ({r.uniform(29, 31):.1f} fps)")


def hours_simulated(r: Random) -> Iterator[str]:
    yield "forecast length: 72 h, time step 300 s"
    for i in range(1, 289):
        yield at(
            i / 288,
            f" NSTEP = {i * 3:5d}   forecast hour {i / 4:6.2f}   max wind {r.uniform(30, 40):.2f} m/s   cfl {r.random():.3f}",
        )


def density_functional(r: Random) -> Iterator[str]:
    yield "NSW = 40, EDIFF = 1E-5"
    for n in range(1, 41):
        for i in range(1, 13):
            yield f"DAV: {i:3d}    {-0.1e3 - r.random():.12E}   {-r.random() / i:.5E}   {-r.random():.5E} 12345   0.123E+01"
        yield at(
            n / 40,
            f"   {n} F= -.{r.randrange(10**7, 10**8)}E+03 E0= -.{r.randrange(10**7, 10**8)}E+03  d E =-.{r.randrange(10**5, 10**6)}E-02",
        )


def until_deadline(r: Random) -> Iterator[str]:
    yield "search runs for 90 minutes"
    for i in range(1, 181):
        yield at(
            i / 180,
            f"{i * 0.5:5.1f}/90.0 min  evaluated {i * 37 + r.randrange(9)}  best {0.9 - 1 / (i + 10):.4f}  pool {r.randrange(50)}",
        )


def countdown_of_files(r: Random) -> Iterator[str]:
    for i in range(640):
        yield at((i + 1) / 640, f"{r.randrange(10**6):06d}.nc regridded ({639 - i} remaining)")


def scores_of_prompts(r: Random) -> Iterator[str]:
    yield "loaded 1,000 prompts from prompts.jsonl; 4 samples per prompt"
    for i in range(10, 1001, 10):
        yield at(i / 1000, f"{i} prompts, {i * 4} samples, pass@1 {r.uniform(0.3, 0.4):.3f}")


def alternating_lines(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield at(
            (i - 0.5) / 200, f"collect {i}/200: 4096 transitions, mean return {i + r.random():.1f}"
        )
        for k in range(1, 5):
            yield at(
                (i - 0.5 + k / 10) / 200,
                f"  update {k}/4: pi {r.random():.4f} v {r.random():.4f} kl {r.random() / 100:.5f}",
            )


def loss_of_levels(r: Random) -> Iterator[str]:
    yield "multigrid training: levels 32, 64, 128, 256; 1500 iterations per level"
    for n, size in enumerate((32, 64, 128, 256)):
        for i in range(100, 1501, 100):
            yield at(
                (n + i / 1500) / 4,
                f"level {size}: iter {i}/1500  mse {falling(r, i / 100 + n):.5f}",
            )


def just_losses(r: Random) -> Iterator[str]:
    yield "hidden 512, context 256, vocab 32000"
    for i in range(400):
        yield f"{clock(i * 9)} {falling(r, i):.4f} {r.uniform(0.9, 1.1):.3f}"


def health_of_ranks(r: Random) -> Iterator[str]:
    for i in range(300):
        yield f"heartbeat {i}: 15/16 ranks alive, 3/4 links up, rtt {r.random():.2f}ms"


def cached_requests(r: Random) -> Iterator[str]:
    for i in range(1, 500):
        yield f"served {i} requests, cache 900/1000, hit rate {r.uniform(80, 90):.1f}%"


RUNS = (
    Run(bayesian_trend_filter, training=False),
    Run(log_posterior, training=False),
    Run(shrinkage_sampler, open_ended=True, training=False),
    Run(batches_below_epochs),
    Run(last_batch_too),
    Run(milliseconds_of_batches, open_ended=True),
    Run(poses, training=False),
    Run(split_by_split, training=False),
    Run(batches_and_tensors, training=False),
    Run(max_step_beside, training=False),
    Run(adapted_particles, training=False),
    Run(hydro_header, training=False),
    Run(texture_bar, timed=True),
    Run(learn_in_chunks),
    Run(steps_in_episodes, open_ended=True),
    Run(every_fifth_epoch),
    Run(validation_error, open_ended=True),
    Run(seeds_and_epochs),
    Run(sizes_to_try),
    Run(tokens_in_billions),
    Run(percent_of_epoch),
    Run(gan_alternation),
    Run(warmup_then_main),
    Run(tree_boosting),
    Run(replicas_in_turn, training=False),
    Run(sequence_bins, open_ended=True, training=False),
    Run(videos_by_frames, training=False),
    Run(hours_simulated, training=False),
    Run(density_functional, training=False),
    Run(until_deadline, training=False),
    Run(countdown_of_files, training=False),
    Run(scores_of_prompts, training=False),
    Run(alternating_lines),
    Run(loss_of_levels),
    Run(just_losses, open_ended=True),
    Run(health_of_ranks, open_ended=True, training=False),
    Run(cached_requests, open_ended=True, training=False),
)
