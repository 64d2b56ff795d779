# ruff: noqa: E501, ARG001, PLR2004, RUF001 - lines as they are printed, by functions of one form
"""Runs in the forms that public repositories print, taken as they were found; scored before use."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.fifth import clock, falling
from bench.corpora.home_made_runs.run import Run, at


def bracket_and_comma(r: Random) -> Iterator[str]:
    yield "Files already downloaded and verified"
    for e in range(12):
        for i in range(100, 1501, 100):
            yield at(
                (e * 1563 + i) / (12 * 1563), f"[{e + 1}, {i}] loss: {falling(r, e + i / 1500):.3f}"
            )
    yield "Finished Training"


def padded_bracket_pipes(r: Random) -> Iterator[str]:
    for e in range(1, 41):
        yield at(
            e / 40,
            f"[{e:02d}/40] train_loss={falling(r, e):.4f} | val_loss={falling(r, e) + 0.1:.4f} | val_cer={1 / e:.4f} | val_acc={min(99, 40 + e):.2f}% | TF={1 - e / 80:.2f} | LR=1.00e-03",
        )


def field_model(r: Random) -> Iterator[str]:
    yield "Training field model: barrel_d=12.0 len=300.0 segments=64"
    for e in range(250, 20001, 250):
        yield at(e / 20000, f"[{e:>5}/20000] loss={falling(r, e / 100) * 1e-3:.6e}")


def mean_total_of_epochs(r: Random) -> Iterator[str]:
    for e in range(1, 31):
        yield at((e - 1 + 0.3) / 30, f"r={falling(r, e):.3e}, kl={r.random():.3e}")
        yield at(e / 30, f"[{e}/30] mean total = {falling(r, e):.6f}")


def epoch_alone_in_brackets(r: Random) -> Iterator[str]:
    for e in range(60):
        yield f"loss item: {falling(r, e)}"
        yield f"[{e + 1}] avg_loss: {falling(r, e)}"


def steps_completed(r: Random) -> Iterator[str]:
    yield "Running simulation for 5000 steps..."
    for i in range(100, 5001, 100):
        yield at(i / 5000, f"Step {i} completed.")
    yield "Simulation finished in 81.00 seconds."


def filter_steps(r: Random) -> Iterator[str]:
    columns = ("cell", "dose", "time", "plate", "vendor", "batch", "site", "method")
    for i, name in enumerate(columns, 1):
        yield "=" * 60
        yield at((i - 1) / 8, f"STEP {i}/8: Filtering by {name}")
        yield f"Current signatures: {9000 // i} ({100 / i:.1f}% of original)"
        yield "PREVIEW:"


def samples_of(r: Random) -> Iterator[str]:
    for i in range(100, 4321, 100):
        yield at(i / 4321, f"{i} of 4321 samples processed.")


def gan_semicolons(r: Random) -> Iterator[str]:
    for i in range(100, 30001, 100):
        yield f"Iter: {i}; D_loss: {r.random():.4}; G_loss: {falling(r, i / 100):.4}"


def iter_in_brackets(r: Random) -> Iterator[str]:
    for i in range(0, 9000, 50):
        yield at(
            i / 9000,
            f"Iter: [{i:5d}/ 9000] loss:{falling(r, i / 50):.4f}, bg_loss:{r.random():.4f}, fg_loss:{r.random():.4f}, neg_loss:{r.random():.4f}; cnt: {r.randrange(90)} {r.randrange(90)} {r.randrange(90)};",
        )


def iter_of_data(r: Random) -> Iterator[str]:
    yield "epochs: 5, training data: 55000"
    for e in range(1, 6):
        for d in range(1000, 55001, 1000):
            yield at(
                ((e - 1) * 55000 + d) / 275000,
                f"Iter: {e} data:{d}  Train loss: {falling(r, e)}  Accuracy:{r.uniform(0.7, 0.9)}",
            )


def residual_until_tolerance(r: Random) -> Iterator[str]:
    for i in range(0, 4000, 20):
        yield f"Iter: {i}, res: {1 / (1 + i):f}"


def swarm(r: Random) -> Iterator[str]:
    yield "BPSO: swarm=40 features=120 max_iter=200"
    for i in range(1, 201):
        yield at(i / 200, f"iter {i:4d} | best = {0.8 + i / 2000:.6f} | A = {r.random():.3f}")


def ocean_model(r: Random) -> Iterator[str]:
    yield "Simulation: stop_time = 10 days, Δt = 20 minutes"
    for i in range(0, 721, 6):
        yield at(
            i / 720,
            f"Iteration: {i:04d}, time: {i / 72:.3f} days, Δt: 20 minutes, max(|w|) = {r.random():.1e} ms⁻¹, wall time: {i * 0.8:.3f} seconds",
        )


def stop_iteration(r: Random) -> Iterator[str]:
    yield "Initializing simulation with stop_iteration = 100000..."
    for i in range(0, 100001, 500):
        yield at(
            i / 100000,
            f"Iteration: {i:04d}, time: {i * 1e-7:.3e} seconds, Δt: 100 ns, max(|w|) = {r.random():.1e} ms⁻¹, wall time: {i / 30:.3f} seconds",
        )


def evolution_counts(r: Random) -> Iterator[str]:
    for i in range(1, 300):
        yield f"iter: {i}    fcount: {i * 12}    fval: {1 / i:2.2e}    axis-ratio: {1 + r.random():2.2e} "


def column_generation(r: Random) -> Iterator[str]:
    total = 0
    for i in range(1, 160):
        total += r.randrange(1, 20)
        yield f"Iter {i:<3d}; RMP value: {9000 / i:8.3f};   LG bound: {2 + r.random():6.3f},   Pricer: greedy  ;   New columns {r.randrange(20):<2d};   Total columns {total:<4d};   Aver. red. {-r.random():5.3f};   Time {i * 1.3:5.3f};    Gap {1 / i:2.3f}"


def plain_episodes(r: Random) -> Iterator[str]:
    yield "Training agent for 1200 episodes"
    for i in range(0, 1200, 10):
        yield at(i / 1200, f"Episode {i}: Reward={r.gauss(0, 3):.2f}, Portfolio=${10000 + i:.2f}")


def episodes_of(r: Random) -> Iterator[str]:
    for i in range(100, 5001, 100):
        yield at(
            i / 5000,
            f"Episode {i}/5000, Average Reward: {i / 50:.2f}, Epsilon: {max(0.01, 1 - i / 4000):.3f}",
        )


def steps_and_episodes(r: Random) -> Iterator[str]:
    for i in range(500, 50001, 500):
        yield at(
            i / 50000,
            f"step {i}/50000 | episode {i // 180 + 1}/280 | loss={falling(r, i / 500):.4f} | eps={max(0.05, 1 - i / 30000):.3f}",
        )


def mountain_car(r: Random) -> Iterator[str]:
    for i in range(100, 3001, 100):
        yield f"Episode  {i:4d}\tAvg: {-1000 + i / 4:.2f}\tBest: {-1000 + i / 4:.3f}\tε: {max(0.01, 0.6 * 0.9**i):.4f}  ⍺: 0.5000  Buffer: 100000  Steps:  {99900 - 20 * i}  Secs:  {132 - i // 30}"


def genetic_best(r: Random) -> Iterator[str]:
    yield "Population size: 100, Generations: 250, Mutation rate: 0.05"
    for i in range(250):
        yield at((i + 1) / 250, f"Generation {i}: Best fitness = {i * 3 + r.randrange(3)}")


def generation_and_configs(r: Random) -> Iterator[str]:
    for g in range(20):
        yield f"generation {g}: 16 configs x 48 games, sigma={0.5 / (g + 1):.4f}"
        for _ in range(4):
            yield f"  wave done in {r.uniform(20, 30):.1f}s"


def generation_pipes(r: Random) -> Iterator[str]:
    yield "Config { pop_size: 5000, max_generations: 400, tournament: 7 }"
    for i in range(0, 400, 5):
        yield at(
            i / 400,
            f"Generation {i:3} | Pop:  5000 | Time: {i * 0.11:5.2f}s | Stagnation: {r.randrange(9)} | Complexity: {20 + i // 9}",
        )
        yield f"Train RMSE: {falling(r, i):.4f} | R2: {1 - 1 / (i + 2):.2f} | Test RMSE: {falling(r, i):.4f}"


def percent_elapsed_remaining(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield at(
            i / 100,
            f"Rendering clips: {i}% | Elapsed: {clock(i * 31)} | Remaining: {clock((100 - i) * 31)}",
        )


def seismic_steps(r: Random) -> Iterator[str]:
    yield " Number of timesteps (NT): 400000 "
    for i in range(10000, 400001, 10000):
        yield ""
        yield at(i / 400000, f" Computing timestep {i} of 400000 ")


def copied_steps(r: Random) -> Iterator[str]:
    for i in range(0, 900, 4):
        yield at(i / 900, f"Copying timestep {i} of 900 ({i * 60.0:f})")


def grains(r: Random) -> Iterator[str]:
    for i in range(0, 200001, 2500):
        yield at(i / 200000, f"timestep {i} of 200000 ({100 * i / 200000:4.2f}% complete)")
        yield f"ke = {r.random():.6f}"


def mhd_time(r: Random) -> Iterator[str]:
    yield "nx = 512, ny = 512, tStop = 0.5, gamma = 1.6667"
    t = 0.0
    for i in range(1, 501):
        t += 0.001
        yield at(t / 0.5, f"Iteration # {i} Time = {t:.6f}")


def newton_completed(r: Random) -> Iterator[str]:
    for i in range(1, 60):
        yield f"Iteration {i} completed. Singular: No. Condition: {r.uniform(10, 99):.3f}. ||Residuals||: {1 / i:.5f}. ||Step||: {1 / i:.4f}. ||StepError||: {r.random():.4f}. RoC: {r.random():.3f}"


def tickers(r: Random) -> Iterator[str]:
    for i in range(50, 2051, 50):
        yield at(
            i / 2051,
            f"2025-03-01 10:{i // 50:02d}:11,120 INFO Progress: {i}/2051 tickers processed",
        )
        if r.random() < 0.4:
            yield f"2025-03-01 10:{i // 50:02d}:12,900 WARNING Failed for T{r.randrange(900)}: timed out"


def days_fetched(r: Random) -> Iterator[str]:
    skipped = 0
    for i in range(50, 1261, 50):
        skipped += r.randrange(5)
        yield at(
            i / 1260, f"INFO:pcr:Progress: {i}/1260 days (fetched={i - skipped}, skipped={skipped})"
        )


def wav_features(r: Random) -> Iterator[str]:
    for i in range(0, 6000, 100):
        yield at(
            i / 6000,
            f"INFO - Progress: Total 6000, Processed {i}, File /data/wav/{r.randrange(9999)}.wav, Feature shape ({r.randrange(100, 900)}, 80)",
        )


def boxes(r: Random) -> Iterator[str]:
    for i in range(1, 401):
        yield f"Current bbox: [{r.random():.3f}, {r.random():.3f}]"
        yield at(i / 400, f"Progress: {round(i / 4, 1)} %")


def molecule_steps(r: Random) -> Iterator[str]:
    for i in range(1, 200):
        yield f"step {i} | E = {-1.1 - r.random() / 100:+.6f} Ha | H-H = {0.74 + r.random() / 50:.4f} A | wall = {i * 5.2:.1f}s"


def heat_equation(r: Random) -> Iterator[str]:
    yield "Grid 256x256, dt=0.001, T=2.0"
    for i in range(10, 2001, 10):
        yield at(i / 2000, f"Step {i}, t = {i / 1000:.3f}")


def curriculum(r: Random) -> Iterator[str]:
    for i in range(0, 40000, 50):
        d = min(1.0, i / 30000)
        yield f"Step {i} Diff: {d:.3f} (N~{int(1 + 3 * d)}) | Loss: {falling(r, i / 50):.4f} | Base: {r.random():.4f} | PlanErr: {r.random():.2f} | {r.uniform(20, 22):.1f} steps/s"


def cycles_of_gan(r: Random) -> Iterator[str]:
    for e in range(25):
        yield f"Epoch {e + 1}/25"
        for i in range(0, 1000, 100):
            yield at(
                (e + i / 1000) / 25,
                f"Step {i}: Gen Loss: {falling(r, e):.4f}, Disc Loss: {r.random():.4f}, Cycle Loss: {r.random():.4f},Identity Loss: {r.random():.4f} ",
            )


def jax_minutes(r: Random) -> Iterator[str]:
    yield "***** Running training *****"
    yield "  Num Training Steps = 20000"
    yield "  Gradient accumulation steps = 4"
    yield "  Batch size per step 64"
    for i in range(0, 20001, 100):
        yield at(
            i / 20000,
            f"step {i} | elapsed {i * 0.0076 + 0.14:.2f}m | loss: {falling(r, i / 100):.2f} | val: {falling(r, i / 100) + 0.1:.2f}",
        )


def resnet_seconds(r: Random) -> Iterator[str]:
    yield "--- resnet18 on CIFAR100 (100 classes) using cuda ---"
    for e in range(1, 101):
        test = f" | Acc {5 + e / 3:.2f}% | infer 4.4s" if e % 10 == 0 else ""
        yield f"Epoch {e:02d} loss {falling(r, e):.4f} | train 2.1s{test}"


def nn_max(r: Random) -> Iterator[str]:
    for i in range(0, 12000, 40):
        yield at(
            i / 12000,
            f"nn / nn_max = {i} / 12000 ; log10(t / t_final) = {-3 + i / 4000:.3f} => {100 * i / 12000:.2f}% ; {60 + r.random():.2f} t/h ; ETA {int((12000 - i) / 40)} s",
        )


def hyperbolic(r: Random) -> Iterator[str]:
    yield "\tNumber of iterations                       : 8000"
    yield "\tTime step                                  : 2.500000E-03"
    for i in range(20, 8001, 20):
        yield at(
            i / 8000,
            f"iter={i:7d}  t={i * 2.5e-3:1.3E}  CFL={0.4 + r.random() / 50:1.3E}  norm={1 / i:1.4E}  wctime: {0.02:1.1E} (s)  ",
        )


RUNS = (
    Run(bracket_and_comma, open_ended=True, last_words=True),
    Run(padded_bracket_pipes),
    Run(field_model),
    Run(mean_total_of_epochs),
    Run(epoch_alone_in_brackets, open_ended=True),
    Run(steps_completed, training=False, last_words=True),
    Run(filter_steps, training=False),
    Run(samples_of, training=False),
    Run(gan_semicolons, open_ended=True),
    Run(iter_in_brackets),
    Run(iter_of_data),
    Run(residual_until_tolerance, open_ended=True, training=False),
    Run(swarm, training=False),
    Run(ocean_model, training=False),
    Run(stop_iteration, training=False),
    Run(evolution_counts, open_ended=True, training=False),
    Run(column_generation, open_ended=True, training=False),
    Run(plain_episodes),
    Run(episodes_of),
    Run(steps_and_episodes),
    Run(mountain_car, open_ended=True),
    Run(genetic_best),
    Run(generation_and_configs, open_ended=True),
    Run(generation_pipes),
    Run(percent_elapsed_remaining, training=False, timed=True),
    Run(seismic_steps, training=False),
    Run(copied_steps, training=False),
    Run(grains, training=False),
    Run(mhd_time, training=False),
    Run(newton_completed, open_ended=True, training=False),
    Run(tickers, training=False),
    Run(days_fetched, training=False),
    Run(wav_features, training=False),
    Run(boxes, training=False),
    Run(molecule_steps, open_ended=True, training=False),
    Run(heat_equation, training=False),
    Run(curriculum, open_ended=True),
    Run(cycles_of_gan),
    Run(jax_minutes, timed=True),
    Run(resnet_seconds, open_ended=True),
    Run(nn_max, training=False, timed=True),
    Run(hyperbolic, training=False),
)
