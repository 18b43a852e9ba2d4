"""A learning program pushes a cart that rubs on its rail: an environment of Gymnasium.

    agent --force--> cart --[friction]-- rail

In each step the agent pushes for 20 ms and sees the position and speed of the cart. Small forces
do nothing: the friction holds up to 5 N. `reset` goes back to a saved state of the only run, so
nothing is compiled anew.
"""

from typing import Any

import numpy as np
from _show import show

from blocks import Model
from library.translational import ForceSource, Mass, MotionSensor, Reference, TranslationalFriction

try:
    import gymnasium
except ImportError:  # the class below is the same without it, for a look at how it is driven
    gymnasium = None
Base: Any = gymnasium.Env if gymnasium else object

model = Model("cart")
model.cart, model.rail, model.push = Mass(mass="2 kg"), Reference(), ForceSource()
model.friction = TranslationalFriction(law="coulomb", coulomb_force="4 N", breakaway_force="5 N")
model.place = MotionSensor()
model.connect(model.cart.M, model.push.R, model.friction.R, model.place.R)
model.connect(model.rail.V, model.push.C, model.friction.C, model.place.C)


class Cart(Base):
    """Bring the cart to 1 m and hold it there."""

    def __init__(self):
        self.run = model.stepper(inputs=["push.S"], outputs=["place.P", "cart.v"])
        self.beginning = self.run.save_state()
        if gymnasium:
            self.action_space = gymnasium.spaces.Box(-20, 20, (1,))  # N
            self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))  # m, m/s

    def reset(self, *, seed=None, options=None):
        if gymnasium:
            super().reset(seed=seed)  # its own random numbers
        self.run.restore(self.beginning)
        return self.run.numbers().astype(np.float32), {}

    def step(self, action):
        seen = self.run.step(action, 0.02)
        late = self.run.time.m >= 5
        return seen.astype(np.float32), -abs(float(seen[0]) - 1), False, late, {}


cart, rewards = Cart(), []
place = speed = 0.0
for _ in range(2):  # two episodes of a plain rule: they are the same
    (place, speed), _ = cart.reset()
    total, late = 0.0, False
    while not late:
        force = np.clip([30 * (1 - place) - 9 * speed], -20, 20)
        (place, speed), reward, _, late, _ = cart.step(force)
        total += reward
    rewards.append(total)

result = cart.run.result()
stuck = abs(place - 1) * 30
print(f"Reward of both episodes: {rewards[0]:.4f}, {rewards[1]:.4f}")
print(f"The cart sticks {1000 * (place - 1):+.1f} mm away, where the rule pushes with {stuck:.2f} N"
      " of the 5 N that the friction holds.")
assert rewards[0] == rewards[1] and speed == 0 and stuck <= 5
show(result.plot("place.P", "cart.v", "push.S", events=False), "gymnasium_cart")
