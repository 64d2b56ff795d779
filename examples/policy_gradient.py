"""REINFORCE learns to catch falling balls, many games at once.

python3 examples/policy_gradient.py --max-steps 150
"""

import argparse
import json
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

WIDTH, HEIGHT, GAMES = 8, 8, 256
PLAY_S = 0.05
"""How long a round of games takes on the machine that plays them."""
MOVES = np.array([-1, 0, 1])


class Catch:
    """A ball falls and drifts with the wind; the paddle below moves by one each time."""

    def __init__(self, rng):
        self.rng = rng
        self.ball, self.paddle = rng.integers(WIDTH, size=(2, GAMES))
        self.height = HEIGHT

    def look(self):
        """Where ball and paddle are and how far it still falls, each as one bit of many."""
        places = np.eye(WIDTH)[self.ball], np.eye(WIDTH)[self.paddle]
        height = np.broadcast_to(np.eye(HEIGHT)[self.height - 1], (GAMES, HEIGHT))
        return np.concatenate([*places, height], axis=1)

    def move(self, choices):
        self.paddle = np.clip(self.paddle + MOVES[choices], 0, WIDTH - 1)
        self.ball = np.clip(self.ball + self.rng.integers(-1, 2, size=GAMES), 0, WIDTH - 1)
        self.height -= 1

    def reward(self):
        return 1.0 - np.abs(self.ball - self.paddle)


class Policy:
    def __init__(self, rng, hidden):
        self.rng = rng
        self.w1 = rng.standard_normal((2 * WIDTH + HEIGHT, hidden)) * 0.3
        self.w2 = rng.standard_normal((hidden, len(MOVES))) * 0.1

    def choose(self, seen):
        hidden = np.tanh(seen @ self.w1)
        scores = hidden @ self.w2
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        choices = (self.rng.random((GAMES, 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
        return choices, (seen, hidden, chances, choices)

    def reinforce(self, steps, rewards, lr):
        """Make choices more likely that were better than the mean, and others less."""
        advantage = ((rewards - rewards.mean()) / (rewards.std() + 1e-6))[:, None]
        d_w1, d_w2 = np.zeros_like(self.w1), np.zeros_like(self.w2)
        for seen, hidden, chances, choices in steps:
            d_scores = (np.eye(len(MOVES))[choices] - chances) * advantage / GAMES
            d_w2 += hidden.T @ d_scores
            d_w1 += seen.T @ ((d_scores @ self.w2.T) * (1 - hidden**2))
        self.w1 += lr * d_w1
        self.w2 += lr * d_w2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-steps", type=int, default=150)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    policy = Policy(rng, hidden=128)
    for update in range(1, args.max_steps + 1):
        time.sleep(PLAY_S)
        game, steps = Catch(rng), []
        while game.height > 0:
            choices, step = policy.choose(game.look())
            game.move(choices)
            steps.append(step)
        rewards = game.reward()
        policy.reinforce(steps, rewards, args.lr)
        log = {"step": update, "total_steps": args.max_steps, "reward": round(rewards.mean(), 3)}
        print(json.dumps(log), flush=True)


if __name__ == "__main__":
    main()
