"""All friction laws side by side: force over velocity of one block that is pushed to and fro."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

from blocks import BlocksError, Model, quantity
from library.frictionlaws import LAWS
from library.translational import Damper, ForceSource, Mass, Reference, TranslationalFriction

__all__ = ["draw"]

#: Values that make the laws comparable: 10 N sliding, 15 N at rest where a law has two.
VALUES: dict[str, Any] = {"coulomb_force": "10 N", "breakaway_force": "15 N", "band": "10 mm/s",
                          "breakaway_velocity": "10 mm/s",
                          "viscous_coefficient": "0 N*s/m"}  # fmt: skip


def run(law: str) -> tuple[np.ndarray, np.ndarray]:
    """Velocity in mm/s and force in N, over one period after the first."""
    model = Model(law)
    friction = TranslationalFriction(law=law)
    for name, value in VALUES.items():
        with contextlib.suppress(BlocksError):  # what a law does not know
            setattr(friction, name, value)
    model.block, model.friction = Mass(mass="1 kg"), friction
    model.oil, model.floor = Damper(damping="200 N*s/m"), Reference()
    model.push = ForceSource(
        force=lambda t: quantity("25 N") * np.sin(2 * np.pi * t / quantity("1 s")))  # fmt: skip
    model.connect(model.block.M, model.friction.R, model.oil.R, model.push.R)
    model.connect(model.friction.C, model.oil.C, model.push.C, model.floor.V)
    result = model.simulate("2 s")
    times = [f"{t} s" for t in np.linspace(1, 2, 801)]
    return (result["block.v"].at(times).to("mm/s").m, result["friction.f"].at(times).to("N").m)


def draw(file: Path) -> None:
    """One small picture per law, with exact friction behind it in grey."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    exact = run("stribeck")
    figure, axes = plt.subplots(5, 5, figsize=(11, 11), sharex=True, sharey=True,
                                layout="constrained")  # fmt: skip
    for ax, law in zip(axes.flat, LAWS, strict=True):
        ax.plot(*exact, color="0.75", lw=3)
        ax.plot(*run(law), color="#0072b2", lw=1.2)
        ax.set_title(law, fontsize=10)
        ax.grid(alpha=0.3)
    for ax in axes[-1]:
        ax.set_xlabel("velocity [mm/s]")
    for ax in axes[:, 0]:
        ax.set_ylabel("friction [N]")
    figure.savefig(file, dpi=90)
    plt.close(figure)
