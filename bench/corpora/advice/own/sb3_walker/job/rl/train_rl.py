import argparse
import os

import gymnasium as gym
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env

HYPER = {
    "ppo": {
        "LunarLander-v2": dict(policy="MlpPolicy", n_steps=1024, batch_size=64, n_epochs=4, learning_rate=3e-4),
        "BipedalWalkerHardcore-v3": dict(policy="MlpPolicy", n_steps=2048, batch_size=128, n_epochs=10),
    },
    "sac": {
        "Pendulum-v1": dict(policy="MlpPolicy", learning_rate=1e-3, batch_size=256),
        "BipedalWalkerHardcore-v3": dict(
            policy="MlpPolicy",
            learning_rate=7.3e-4,
            buffer_size=1_000_000,
            batch_size=512,
            ent_coef=0.005,
            gamma=0.99,
            tau=0.01,
            train_freq=64,
            gradient_steps=64,
            learning_starts=10_000,
            policy_kwargs=dict(net_arch=[400, 300]),
        ),
    },
}
ALGOS = {"ppo": PPO, "sac": SAC}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--algo", default="ppo", choices=ALGOS)
    p.add_argument("--env", required=True)
    p.add_argument("-n", "--timesteps", type=int, default=100_000)
    p.add_argument("--n-envs", type=int, default=4)
    p.add_argument("--continue", dest="cont", default=None, help="zip to go on from")
    p.add_argument("--batch-size", type=int, default=None, help="instead of the tuned one")
    args = p.parse_args()

    hyper = dict(HYPER[args.algo][args.env])
    if args.batch_size:
        hyper["batch_size"] = args.batch_size
    env = make_vec_env(args.env, n_envs=args.n_envs, seed=0)
    eval_env = gym.make(args.env)
    out = os.path.join("rl_models", args.env)

    cls = ALGOS[args.algo]
    if args.cont:
        model = cls.load(args.cont, env=env)
    else:
        model = cls(env=env, verbose=1, tensorboard_log="tb", **hyper)
    model.learn(
        total_timesteps=args.timesteps,
        callback=[
            CheckpointCallback(save_freq=max(50_000 // args.n_envs, 1), save_path=out),
            EvalCallback(eval_env, eval_freq=20_000, n_eval_episodes=10, best_model_save_path=out),
        ],
        reset_num_timesteps=not args.cont,
    )
    model.save(os.path.join(out, "final"))


if __name__ == "__main__":
    main()
