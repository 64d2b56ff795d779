import os
import time
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import tyro
from torch.distributions.normal import Normal


@dataclass
class Args:
    seed: int = 1
    cuda: bool = True
    save_model: bool = False
    env_id: str = "Hopper-v4"
    total_timesteps: int = 1_000_000
    learning_rate: float = 3e-4
    num_envs: int = 1
    num_steps: int = 2048
    """steps of every environment per rollout"""
    anneal_lr: bool = False
    gamma: float = 0.99
    gae_lambda: float = 0.95
    num_minibatches: int = 32
    update_epochs: int = 10
    clip_coef: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5

    # filled in below
    batch_size: int = 0
    minibatch_size: int = 0
    num_iterations: int = 0


def make_env(env_id, gamma):
    def thunk():
        env = gym.make(env_id)
        env = gym.wrappers.RecordEpisodeStatistics(env)
        env = gym.wrappers.ClipAction(env)
        env = gym.wrappers.NormalizeObservation(env)
        return gym.wrappers.NormalizeReward(env, gamma=gamma)
    return thunk


def layer(i, o, std=np.sqrt(2)):
    lin = nn.Linear(i, o)
    nn.init.orthogonal_(lin.weight, std)
    nn.init.zeros_(lin.bias)
    return lin


class Agent(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.critic = nn.Sequential(layer(obs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))
        self.actor = nn.Sequential(layer(obs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, act, 0.01))
        self.logstd = nn.Parameter(torch.zeros(1, act))

    def act(self, x, a=None):
        mean = self.actor(x)
        dist = Normal(mean, self.logstd.expand_as(mean).exp())
        a = dist.sample() if a is None else a
        return a, dist.log_prob(a).sum(1), dist.entropy().sum(1), self.critic(x).squeeze(-1)


if __name__ == "__main__":
    args = tyro.cli(Args)
    args.batch_size = args.num_envs * args.num_steps
    args.minibatch_size = args.batch_size // args.num_minibatches
    args.num_iterations = args.total_timesteps // args.batch_size
    name = f"{args.env_id}__ppo__{args.seed}__{int(time.time())}"
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if args.cuda and torch.cuda.is_available() else "cpu")

    envs = gym.vector.SyncVectorEnv([make_env(args.env_id, args.gamma) for _ in range(args.num_envs)])
    agent = Agent(envs.single_observation_space.shape[0], envs.single_action_space.shape[0]).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    T, N = args.num_steps, args.num_envs
    obs = torch.zeros((T, N) + envs.single_observation_space.shape, device=device)
    acts = torch.zeros((T, N) + envs.single_action_space.shape, device=device)
    logp, rew, done, val = (torch.zeros((T, N), device=device) for _ in range(4))

    x = torch.Tensor(envs.reset(seed=args.seed)[0]).to(device)
    d = torch.zeros(N, device=device)
    for it in range(1, args.num_iterations + 1):
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = (1 - (it - 1) / args.num_iterations) * args.learning_rate
        for t in range(T):
            obs[t], done[t] = x, d
            with torch.no_grad():
                a, lp, _, v = agent.act(x)
            acts[t], logp[t], val[t] = a, lp, v
            nxt, r, term, trunc, info = envs.step(a.cpu().numpy())
            rew[t] = torch.tensor(r, device=device)
            x = torch.Tensor(nxt).to(device)
            d = torch.Tensor(np.logical_or(term, trunc)).to(device)

        with torch.no_grad():
            last = agent.act(x)[3]
        adv, g = torch.zeros_like(rew), 0
        for t in reversed(range(T)):
            nonterm = 1 - (d if t == T - 1 else done[t + 1])
            delta = rew[t] + args.gamma * (last if t == T - 1 else val[t + 1]) * nonterm - val[t]
            adv[t] = g = delta + args.gamma * args.gae_lambda * nonterm * g
        ret = adv + val

        flat = [z.reshape((-1,) + z.shape[2:]) for z in (obs, acts, logp, adv, ret)]
        idx = np.arange(args.batch_size)
        for _ in range(args.update_epochs):
            np.random.shuffle(idx)
            for s in range(0, args.batch_size, args.minibatch_size):
                o, a, lp0, ad, re = (z[idx[s:s + args.minibatch_size]] for z in flat)
                _, lp, ent, v = agent.act(o, a)
                ratio = (lp - lp0).exp()
                ad = (ad - ad.mean()) / (ad.std() + 1e-8)
                pg = torch.max(-ad * ratio, -ad * ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)).mean()
                loss = pg - args.ent_coef * ent.mean() + args.vf_coef * 0.5 * ((v - re) ** 2).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
        print(f"iter {it}/{args.num_iterations} return {ret.mean().item():.2f}", flush=True)

    if args.save_model:
        os.makedirs(f"runs/{name}", exist_ok=True)
        torch.save(agent.state_dict(), f"runs/{name}/agent.pt")
