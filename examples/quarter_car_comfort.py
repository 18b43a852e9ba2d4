r"""Which damper makes a car comfortable? A quarter car from its rest to its optimum.

    body (300 kg), accelerometer         weight, with passengers or not
      |
    suspension: 18 kN/m, damper to be chosen
      |
    wheel (40 kg)                        weight
      |
    tyre: 180 kN/m
      |
    road, with a kerb of 15 mm

Where does it ride, and what does a load of 120 kg change? How does the body follow the road over
frequency? Discomfort is the integral of the squared acceleration of the body behind the kerb:
it is least for a damper of k_s sqrt((m_b + m_w) / k_t), as books on ride comfort say of a rough
road, which is kerbs in a row. Tolerances of the parts make it vary.
"""

import numpy as np
from _show import show
from matplotlib.figure import Figure

from blocks import Component, Model, Port, Variable, der, quantity
from blocks.analysis import free
from blocks.analysis.design.optimisation import optimise
from blocks.analysis.design.uncertainty import first_order
from library.translational import (
    ForceSource,
    Mass,
    Reference,
    SpringDamper,
    VelocitySource,
    translational,
)

body, wheel, g = quantity("300 kg"), quantity("40 kg"), quantity("9.81 m/s^2")
k_s, k_t, kerb = quantity("18 kN/m"), quantity("180 kN/m"), quantity("15 mm")


class Accelerometer(Component):
    """Acceleration a of R, and the integral of its square: der(dose) = a^2."""

    R = Port(translational)
    a = Variable("m/s^2")
    dose = Variable("m^2/s^3", "0 m^2/s^3", priority="high")

    def equations(self):
        yield self.R.f == 0
        yield self.a == der(self.R.v)
        yield der(self.dose) == self.a**2


model = Model("quarter car")
model.body, model.wheel = Mass(mass=body), Mass(mass=wheel)
model.suspension = SpringDamper(stiffness=k_s, damping="1200 N*s/m", preload=body * g)
model.tyre = SpringDamper(stiffness=k_t, damping="0 N*s/m", preload=(body + wheel) * g)
model.meter, model.road, model.ground = Accelerometer(), VelocitySource(), Reference()
model.weight_of_body, model.weight_of_wheel = ForceSource(force=-body * g), ForceSource(
    force=-wheel * g)
model.connect(model.body.M, model.suspension.C, model.weight_of_body.R, model.meter.R)
model.connect(model.wheel.M, model.suspension.R, model.tyre.C, model.weight_of_wheel.R)
model.connect(model.tyre.R, model.road.R)
model.connect(model.road.C, model.weight_of_body.C, model.weight_of_wheel.C, model.ground.V)

# 1. where does it ride?
loaded = model.operating_point({"weight_of_body.force": -(body + quantity("120 kg")) * g})
level = model.operating_point({"weight_of_body.force": -(body + quantity("120 kg")) * g,
                               "suspension.preload": free, "suspension.x": "0 mm"})
print(f"With 120 kg more the suspension gives {loaded['suspension.x'].to('mm'):.1f~P}, by hand "
      f"120 kg g / k = 65.4 mm; level again with a preload of "
      f"{level['suspension.preload'].to('N'):.0f~P}")

# 2. how does it follow the road?
at_rest = model.operating_point()
linear = model.linearise("road.velocity", "body.v", at=at_rest)
print(linear.modes())

# 3. the damper of least discomfort behind a kerb
model.tyre.x = kerb
best = optimise(model, "final(meter.dose)", {"suspension.damping": ("200 N*s/m", "6000 N*s/m")},
                "8 s", rtol=1e-8)
optimum = best.values["suspension.damping"].to("N*s/m")
by_hand = k_s * ((body + wheel) / k_t) ** 0.5
print(best)
print(f"By hand {by_hand.to('N*s/m'):.1f~P}")

# 4. how much does it vary from car to car?
model.suspension.damping = optimum
tolerance = first_order(model, {"suspension.damping": "80 N*s/m", "suspension.stiffness":
                                "900 N/m", "tyre.stiffness": "15 kN/m"},
                        "8 s", ["final(meter.dose)"])
spread = tolerance.deviations["final(meter.dose)"]
print(tolerance)
print(f"So discomfort varies by {(spread / best.objective).to('percent').m:.1f} %")

figure = Figure(figsize=(7, 6.4), layout="constrained")
bode, doses = figure.subplots(2, 1)
hertz = np.geomspace(0.2, 40, 400)
for damping in (quantity("300 N*s/m"), optimum, quantity("3000 N*s/m")):
    model.suspension.damping = damping
    gain = model.linearise("road.velocity", "body.v").response(quantity(hertz, "Hz"))
    bode.semilogx(hertz, 20 * np.log10(np.abs(gain)), label=f"{damping:.0f~P}")
bode.set(xlabel="frequency [Hz]", ylabel="body / road [dB]", title="How does the body follow?")
c = np.geomspace(200, 6000, 200)
m_b, m_w, k, k_tyre, h = (q.to_base_units().m for q in (body, wheel, k_s, k_t, kerb))
book = h**2 * ((m_b + m_w) * k**2 / (2 * c * m_b**2) + k_tyre * c / (2 * m_b**2))
doses.semilogx(c, book, color="0.6", label="by hand")
doses.plot(optimum.m, best.objective.m, "o", label=f"optimum: {optimum:.0f~P}")
doses.errorbar(optimum.m, best.objective.m, yerr=2 * spread.m, color="tab:blue", capsize=4,
               label="95 % of the cars")
doses.set(xlabel="damping [N·s/m]", ylabel="discomfort behind the kerb [m²/s³]",
          title="Which damper is most comfortable?")  # fmt: skip
doses.set_xticks([200, 500, 1000, 2000, 5000], [200, 500, 1000, 2000, 5000])
doses.minorticks_off()
for axes in (bode, doses):
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="small")
show(figure, "quarter_car_comfort")
