r"""Eleven friction laws on one problem: what does the number of steps say about them?

    end of spring: 2 m/s, stops at 2 s
        |
      spring (90 N/m)
        |
      block (1 kg) -- friction (10 N) -- floor

T. Piatkowski compared laws by the number n of output rows of ode45 (four a step) over the
width of the band of velocity that counts as rest, and by a weight w of the splines in
three of them. Both pictures are made here from one model, in which only the law changes.
Only the network knows the force that drives the friction. The lower left picture
shows what n does not: how far each law is from the exact end at 3.9732618 m.

``--fine`` takes narrower bands and more weights (minutes), ``--coarse`` fewer (seconds).
"""

import sys

from _show import show
from matplotlib import pyplot

from blocks import Model, Parameter, Variable, der, quantity, time, where
from blocks.solvers import MethodName
from library.frictionlaws import AwrejcewiczAsPrinted, AwrejcewiczIAsPrinted
from library.translational import Mass, Reference, TranslationalFriction, TwoPort

FINE, COARSE = "--fine" in sys.argv, "--coarse" in sys.argv
sys.argv = [word for word in sys.argv if word not in ("--fine", "--coarse")]
EXACT = 3.973261817376106  # m, with exact Coulomb friction

LAWS = {
    "1 Karnopp": "karnopp", "2 Quinn": "quinn", "3 Kikuuwe": "kikuuwe",
    "4 Awrejcewicz": AwrejcewiczAsPrinted, "5 Quinn I": "quinn_1", "6 Quinn II": "quinn_2",
    "7 Quinn III": "quinn_3", "8 Kikuuwe I": "kikuuwe_1", "9 Awrejcewicz I": AwrejcewiczIAsPrinted,
    "10 viscous": "viscous", "11 tanh": "tanh",
}  # fmt: skip


class PulledSpring(TwoPort):
    """Spring from a body at x to an end that moves at 2 m/s for 2 s."""

    stiffness = Parameter("90 N/m")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        # the published runs step over the instant at which the end stops
        moved = where(time < quantity("2 s"), time, quantity("2 s"), events=False)
        yield der(self.x) == self.v
        yield self.f == self.stiffness * (self.x - quantity("2 m/s") * moved)


def run(law, band, method: MethodName = "ode45", **more):
    """Rows that the published run returns, and the place where the block ends."""
    model = Model("pulled block")
    model.block, model.spring, model.floor = Mass(mass="1 kg"), PulledSpring(), Reference()
    model.friction = TranslationalFriction(law=law, coulomb_force="10 N", band=band, **more)
    if "breakaway" in model.friction.kind.uses:
        model.friction.breakaway_force = "10 N"
    model.connect(model.block.M, model.spring.R, model.friction.R)
    model.connect(model.spring.C, model.friction.C, model.floor.V)
    result = model.simulate("4 s", method=method, rtol=1e-3, atol=["1 um", "1 um/s"])
    rows = (4 if method == "ode45" else 1) * result.statistics["steps"] + 1
    return rows, result["spring.x"].final.to("m").m


bands = [1e-1, 1e-2] if COARSE else [1e-1, 3e-2, 1e-2, 3e-3]
weights = [0, 0.5] if COARSE else [0, 0.1, 0.2, 0.3, 0.4, 0.5]
if FINE:
    bands += [1e-3, 3e-4, 1e-4]
    weights = [k / 20 for k in range(11)]
weight_band = "1 mm/s" if FINE else "1 cm/s"

figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
for number, (name, law) in enumerate(LAWS.items()):
    style = {"color": f"C{number}" if number < 10 else "black", "label": name, "ms": 4,
             "marker": "o^s"[number // 4], "ls": ["-", "--", ":"][number // 4]}  # fmt: skip
    methods: tuple[MethodName, ...] = "ode45", "ode23s"
    for column, method in enumerate(methods):
        done = {b: run(law, f"{b} m/s", method) for b in bands}
        widths = sorted(done)
        axes[0, column].semilogx(widths, [done[b][0] for b in widths], **style)
        if method == "ode45":
            axes[1, 0].loglog(widths, [abs(done[b][1] - EXACT) for b in widths], **style)
            print(f"{name:18} n = {done[0.1][0]:4} at 0.1 m/s, {done[0.01][0]:5} at 0.01 m/s; "
                  f"ends {1e3 * (done[0.1][1] - EXACT):+8.2f} mm off at 0.1 m/s")

for law, name, line in (("quinn_3", "7 Quinn III", "C6s:"), ("kikuuwe_1", "8 Kikuuwe I", "C7s:"),
                        (AwrejcewiczIAsPrinted, "9 Awrejcewicz I", "C8s:")):
    n = [run(law, weight_band, weight=w)[0] for w in weights]
    axes[1, 1].plot(weights, n, line, ms=4, label=name)

for axis, title, x in (
    (axes[0, 0], "rows of ode45", "band of velocity [m/s]"),
    (axes[0, 1], "rows of ode23s", "band of velocity [m/s]"),
    (axes[1, 0], "error of the end [m], ode45", "band of velocity [m/s]"),
    (axes[1, 1], f"rows of ode45 at {weight_band}", "weight w of the spline"),
):
    axis.set(title=title, xlabel=x)
    axis.grid(alpha=0.3)
axes[1, 1].legend()
axes[0, 0].set_yscale("log")
axes[0, 1].set_ylim(100, 250)
handles, labels = axes[0, 0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=6)
print(f"4 corrected        n = {run('awrejcewicz', '0.1 m/s')[0]:4} at 0.1 m/s")
print("printed in the paper: 193 (Karnopp), 417 (Quinn), 229 (Awrejcewicz) at 0.1 m/s")
show(figure, "friction_laws")
