"""In a thermal network entropy never falls, and no heat gets lost."""

import numpy as np
import pytest

from blocks import Model, quantity
from library.thermal import (
    ConductiveHeatTransfer,
    ConvectiveHeatTransfer,
    RadiativeHeatTransfer,
    TemperatureSource,
    ThermalMass,
    ThermalResistance,
)


def network(seed):
    """Bodies, and surroundings, joined at random."""
    rng, model = np.random.default_rng(seed), Model(f"random {seed}")
    nodes, bodies, sources = [], [], []
    for k in range(rng.integers(3, 8)):
        body = model.add(f"body{k}", ThermalMass(
            mass=quantity(10 ** rng.uniform(-2, 0), "kg"), T=quantity(rng.uniform(5, 900), "K")))
        nodes.append(body.M)
        bodies.append(body)
    for k in range(rng.integers(0, 3)):
        source = model.add(f"source{k}", TemperatureSource(
            temperature=quantity(rng.uniform(5, 900), "K")))
        nodes.append(source.A)
        sources.append(source)
    for k in range(2 * len(nodes)):
        size = quantity(10 ** rng.uniform(-4, -2), "m^2")
        kind = rng.integers(4)
        link = [ThermalResistance(resistance=quantity(10 ** rng.uniform(-1, 1), "K/W")),
                ConductiveHeatTransfer(area=size, law=str(rng.choice(["constant", "table"]))),
                ConvectiveHeatTransfer(area=100 * size),
                RadiativeHeatTransfer(area=100 * size)][kind]  # fmt: skip
        a = k if k + 1 < len(nodes) else int(rng.integers(len(nodes)))
        b = k + 1 if k + 1 < len(nodes) else int(rng.integers(len(nodes)))
        if a == b:
            continue
        model.add(f"link{k}", link)
        model.connect(nodes[a], link.A)
        model.connect(link.B, nodes[b])
    return model, bodies, sources


@pytest.mark.parametrize("seed", range(4))
def test_entropy_never_falls_in_a_random_network(seed):
    model, bodies, sources = network(seed)
    run = model.simulate("100 s", rtol=1e-9)
    t = run.time.to("s").magnitude
    produced = np.zeros_like(t)  # per second
    links = [path for path in model.parts if path.startswith("link")]
    assert len(links) > 3
    for path in links:
        heat = run[f"{path}.Q"].to("W").magnitude
        a, b = (run[f"{path}.{port}.T"].to("K").magnitude for port in "AB")
        produced += heat * (1 / b - 1 / a)
        assert (heat * (1 / b - 1 / a) >= -1e-12 * np.abs(heat).max()).all()
    entropy = sum(b.mass.to("kg").magnitude * 447 * np.log(
        run[f"{b.path}.T"].to("K").magnitude) for b in bodies)
    for source in sources:  # what they take
        q = run[f"{source.path}.A.Q"].to("W").magnitude
        steps = np.diff(t) * (q[1:] + q[:-1]) / 2
        entropy = entropy + np.append(0, np.cumsum(steps)) / source.temperature.to("K").magnitude
    if not sources:  # else the sum over the steps has an error of its own
        assert (np.diff(entropy) >= -1e-9 * np.abs(entropy).max()).all()
    assert entropy[-1] > entropy[0]
    assert run.energy().residual.to("J").magnitude < 1e-6 * run.energy().turned_over.magnitude
