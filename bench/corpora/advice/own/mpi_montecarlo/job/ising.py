"""2D Ising model, Metropolis, one temperature per rank with replica exchange."""
import argparse
import os
import time

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def args_():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=64, help="of the lattice")
    p.add_argument("--steps", type=int, default=10_000, help="sweeps")
    p.add_argument("--batch", type=int, default=32, help="sweeps per random number block")
    p.add_argument("--exchange", type=int, default=100)
    p.add_argument("--dump", type=int, default=5000, help="sweeps between two checkpoints")
    p.add_argument("--tmin", type=float, default=1.8)
    p.add_argument("--tmax", type=float, default=2.8)
    p.add_argument("--out", default="ising.h5")
    return p.parse_args()


def sweep(s, beta, u):
    for colour in (0, 1):
        nb = sum(np.roll(s, d, a) for d in (1, -1) for a in (0, 1))
        mask = (np.indices(s.shape).sum(0) % 2) == colour
        flip = mask & (u[colour] < np.exp(-2 * beta * s * nb))
        s[flip] *= -1


def energy(s):
    return -float((s * (np.roll(s, 1, 0) + np.roll(s, 1, 1))).sum())


def main():
    a = args_()
    rng = np.random.default_rng(1000 + rank)
    temps = np.linspace(a.tmin, a.tmax, size)
    beta = 1 / temps[rank]
    model = np.where(rng.random((a.size, a.size)) < 0.5, 1, -1).astype(np.int8)
    state = f"{a.out}.{rank}.npz"
    first = 0
    if os.path.exists(state):
        z = np.load(state)
        model, first = z["spins"], int(z["step"])
    epoch = time.time()
    es, ms = [], []
    for step in range(first, a.steps):
        if step % a.batch == 0:
            block = rng.random((a.batch, 2, a.size, a.size))
        sweep(model, beta, block[step % a.batch])
        es.append(energy(model))
        ms.append(float(model.mean()))
        if step % a.exchange == 0 and size > 1:
            other = rank ^ 1
            if other < size:
                mine = np.array([es[-1], beta])
                theirs = comm.sendrecv(mine, other, source=other)
                if (mine[0] - theirs[0]) * (mine[1] - theirs[1]) > 0:
                    model = comm.sendrecv(model, other, source=other)
        if (step + 1) % a.dump == 0:
            np.savez(state, spins=model, step=step + 1)
            if rank == 0:
                print(f"{step + 1}/{a.steps} {time.time() - epoch:.0f}s", flush=True)
    all_e, all_m = comm.gather(es), comm.gather(ms)
    if rank == 0:
        with h5py.File(a.out, "w") as f:
            f["temps"], f["energy"], f["magnet"] = temps, np.array(all_e), np.array(all_m)


if __name__ == "__main__":
    main()
