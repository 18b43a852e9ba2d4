r"""A mass on a spring rubs on the floor: where does it come to rest, and does it stay?

    spring (1 N/m) -- mass (1 kg) -- friction (1 N) -- floor

Pulled 2.5 m aside and let go, it turns once and must stay at -0.5 m. D. D. Quinn's
problem, in fixed steps of 10 ms: the plain law sign(v) rattles and drifts home, a steep
viscous law creeps home, Quinn's law rests 3/4 band² beside the right place. Exact
friction, with steps of its own, has no such error.
"""

from _show import show
from matplotlib import pyplot

from blocks import Model
from library.frictionlaws import FrictionLaw, sgn
from library.translational import Mass, Reference, Spring, TranslationalFriction


class Sign(FrictionLaw):
    """F_C sign(v), and zero at rest, as in a textbook."""

    def force(self, c):
        return c.coulomb * sgn(c.flow)


def run(law, end="20 s", **options):
    """The oscillator on a law."""
    friction = TranslationalFriction(law=law, coulomb_force="1 N")
    if "breakaway" in friction.kind.uses:
        friction.breakaway_force = "1 N"
    if "band" in friction.kind.declarations:
        friction.band = "2 cm/s"
    model = Model("oscillator")
    model.mass, model.spring = Mass(mass="1 kg"), Spring(stiffness="1 N/m", x="2.5 m")
    model.friction, model.floor = friction, Reference()
    model.connect(model.mass.M, model.spring.R, model.friction.R)
    model.connect(model.spring.C, model.friction.C, model.floor.V)
    return model.simulate(end, every="10 ms", **options)


fixed = {"method": "rk4", "step": "10 ms"}
runs = {
    "sign(v)": run(Sign, **fixed),
    "Martins-Oden": run("martins_oden", **fixed),
    "Quinn": run("quinn", **fixed),
    "exact": run("coulomb"),
}
exact = -0.5
for name, result in runs.items():
    x = [result["spring.x"].at(t).to("m").m for t in ("4 s", "20 s")]
    print(f"{name:13} x = {x[0]:.9f} m at 4 s, {x[1]:.9f} m at 20 s")
error = runs["Quinn"]["spring.x"].final.to("m").m - exact
print(f"Quinn's rest is {1e6 * error:.1f} um off, by hand -3/4 (2 cm)² = -300 um")

figure, (whole, near) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
for (name, result), style in zip(runs.items(), ("C1", "C2", "C0--", "k:"), strict=True):
    t, x = result["spring.x"].time.to("s").m, result["spring.x"].to("m").m
    whole.plot(t, x, style, label=name)
    near.plot(t, 1e3 * (x - exact), style, label=name)
whole.set(xlabel="time [s]", ylabel="place [m]", title="all seem to stop", xlim=(0, 8))
near.set(xlabel="time [s]", ylabel="place − exact rest [mm]", title="who stays?", xlim=(3, 20),
         ylim=(-5, 60))
for axis in (whole, near):
    axis.grid(alpha=0.3)
near.legend()
show(figure, "oscillator_friction")
