"""PPO of Stable-Baselines3 in a world of one step."""

import time

import gymnasium
import numpy as np
import stable_baselines3

STEPS, STEP_S = 1024, 0.009


class Nothing(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        time.sleep(STEP_S)
        return self.observation_space.sample(), 1.0, True, False, {}


model = stable_baselines3.PPO(
    "MlpPolicy", Nothing(), n_steps=32, batch_size=32, n_epochs=1, verbose=1, device="cpu"
)
model.learn(total_timesteps=STEPS)
