"""What does one goal cost in terms of another? A ball thrown far, or high.

Thrown at 10 m/s, after 1 s it is at x = v cos(a) 1 s, and its peak is y = (v sin(a))^2 / 2 g: more
of one is less of the other, y = (v^2 - (x / 1 s)^2) / 2 g. No angle is best in both, so the answer
is a front of designs, each the farthest throw that still reaches a height.
"""

from _show import show
from matplotlib.figure import Figure

from blocks import Component, Model, Parameter, Variable, cos, der, quantity, sin
from blocks.analysis import pareto


class Thrown(Component):
    """A ball thrown at an angle, without drag."""

    speed, angle = Parameter("10 m/s", above=0), Parameter("30 deg")
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    fall = Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield der(self.x) == self.speed * cos(self.angle)
        yield der(self.fall) == quantity("9.81 m/s^2")
        yield der(self.y) == self.speed * sin(self.angle) - self.fall


model = Model("thrown")
model.ball = Thrown()
far, high, over = "final(ball.x)", "max(ball.y)", {"ball.angle": ("10 deg", "60 deg")}

front = []
print("   height    distance       angle")
for best in pareto(model, far, high, over, "1 s", points=5, maximise=True):
    front.append((best.limits[high], best.objective, best.values["ball.angle"]))
    height, distance, angle = front[-1]
    print(f"{height.to('m'):9.4f~P} {distance:11.4f~P} {angle.to('deg'):11.2f~P}")

figure = Figure(figsize=(6.4, 3.6), layout="constrained")
axes = figure.subplots()
axes.plot([x.to("m").m for _, x, _ in front], [y.to("m").m for y, _, _ in front], "o-")
axes.set_xlabel("distance after 1 s [m]")
axes.set_ylabel("height [m]")
axes.set_title("What one costs the other")
axes.grid(alpha=0.3)
show(figure, "pareto_front")
