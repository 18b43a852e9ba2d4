r"""A rod between a furnace and the cold: how hot does its end get, and how soon?

    furnace 1000 K ---- rod of steel, 100 segments ---- radiation ---- walls 300 K

Heat diffuses along the rod; at its end it is radiated, with T to the fourth power. The final
temperature is known: the rod conducts, k A/L (1000 K - T), as much as it radiates.
"""

import numpy as np
from _show import show
from scipy.optimize import brentq

from blocks import Model
from library.thermal import ConductingRod, RadiativeHeatTransfer, TemperatureSource

model = Model("rod with radiation")
model.furnace = TemperatureSource(temperature="1000 K")
model.rod = ConductingRod(segments=100, length="0.1 m", area="1 cm^2", density="7850 kg/m^3",
                          thermal_conductivity="50 W/(m*K)", specific_heat="447 J/(kg*K)")
model.end = RadiativeHeatTransfer(area="100 cm^2")  # a plate at the end
model.walls = TemperatureSource(temperature="300 K")

model.connect(model.furnace.A, model.rod.A)
model.connect(model.rod.B, model.end.A)
model.connect(model.end.B, model.walls.A)

result = model.simulate("1500 s", rtol=1e-8)
end = result["end.A.T"]
balance = brentq(lambda T: 50 * 1e-4 / 0.1 * (1000 - T) - 4e-8 * 0.01 * (T**4 - 300**4), 300, 1000)
print(result.energy().grouped())
print(f"\nEnd of the rod {end.final.to('K'):.4f~P}, by hand {balance:.4f} K")
half = np.interp(300 + (balance - 300) / 2, end.to("K").magnitude, result.time.to("s").magnitude)
print(f"Half of the way up after {half:.0f} s; the diffusion time L^2 k^-1 rho c is "
      f"{0.1**2 / 50 * 7850 * 447:.0f} s")

figure = result.plot(*(f"rod.segment[{k}].T" for k in (0, 24, 49, 74, 99)), "end.Q")
figure.axes[0].set_xlim(0, 15)  # min; nothing is to be seen after that
show(figure, "rod_with_radiation")
