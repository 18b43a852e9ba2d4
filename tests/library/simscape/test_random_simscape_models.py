"""Random models written as files of several releases convert to the models they were written from.

Every model is built twice: drawn as blocks in a file, and from components directly. Converted and
run, the file gives the same results, to the rounding of a run.
"""

import random

import numpy as np
import pytest
from numpy.testing import assert_allclose
from simscape_corpus import built
from slx_writer import RELEASES, Drawn, from_ps, simulink, solver, to_ps, write

from blocks import Model
from library import electrical as el
from library import isothermal_liquid as il
from library import magnetic as ma
from library import rotational as ro
from library import signal as si
from library import thermal as th
from library import translational as tr
from library.simscape import convert
from library.simscape.physical.mapping import counterpart_of

TR, RO = "foundation.mechanical.translational.", "foundation.mechanical.rotational."
EE, TE = "foundation.electrical.elements.", "foundation.thermal.elements."


class Twice:
    """A model, drawn and built."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.drawn: list[Drawn] = []
        self.model = Model("direct")
        self.nodes: dict[str, list] = {}
        self.watched: list[tuple[str, str]] = []

    def number(self, low, high):
        return float(f"{self.pick.uniform(low, high):.4g}")

    def add(self, kind, ours, nodes, values=(), watch=(), within=""):
        """A component: ``values`` of the drawing, a component built with the same ones."""
        name = f"part{len(self.drawn)}"
        self.drawn.append(Drawn(kind, name, dict(nodes), dict(values), within=within))
        setattr(self.model, name, ours)
        counterpart = counterpart_of(kind)
        for port, node in nodes.items():
            self.nodes.setdefault(node, []).append(getattr(ours, counterpart.port(port)))
        place = f"{within}." if within else ""
        self.watched += [(f"{place}{name}.{v}", f"{name}.{v}") for v in watch]
        return name

    def two_ports(self, table, count, nodes):
        """Random two-ports between random nodes; some stand in a subsystem."""
        for _ in range(count):
            kind, make, ends = self.pick.choice(table)
            a, b = self.pick.sample(nodes, 2)
            ours, values, watch = make(self)
            self.add(kind, ours, dict(zip(ends, (a, b), strict=True)), values, watch,
                     self.pick.choice(["", "", "box"]))

    def drive(self, node, unit):
        """A sine of Simulink's into a physical input."""
        amplitude, turns = self.number(1, 5), self.number(0.5, 3)
        self.drawn += [simulink("Sin", "wave", "", "w", Amplitude=str(amplitude),
                                Frequency=f"2*pi*{turns}"), to_ps("w", node, Unit=unit)]
        self.model.wave = si.Sine(amplitude=f"{amplitude} {unit}", frequency=f"{turns} Hz")
        self.nodes.setdefault(node, []).append(self.model.wave.y)

    def shown(self, node, unit, output):
        """A converter to a number, a gain and a lag of Simulink's, and a scope."""
        gain, lag = self.number(0.5, 3), self.number(0.05, 0.5)
        self.drawn += [
            from_ps(node, "n", Unit=unit), simulink("Gain", "scale", "n", "g", Gain=str(gain)),
            simulink("TransferFcn", "lag", "g", "l", Denominator=f"[{lag} 1]"),
            simulink("Scope", "scope", "l")]
        self.model.number = si.Gain(input=unit, gain=f"{gain} 1/({unit})")
        self.model.lag = si.TransferFunction(numerator=[1], denominator=[lag, 1])
        self.nodes[node].append(self.model.number.u)
        self.model.connect(self.model.number.y, self.model.lag.u)
        self.watched.append(("lag.y", "lag.y"))

    def finish(self, ground):
        self.drawn.append(solver(ground))
        for ports in self.nodes.values():
            if len(ports) > 1:
                self.model.connect(*ports)
        return self


def spring(m, module=tr, values=("spr_rate", "N/m", "x", "m"), watch="f"):
    word, unit, variable, length = values
    k, x = m.number(5, 50), m.number(-0.1, 0.1)
    made = module.Spring if module is tr else module.RotationalSpring
    return (made(stiffness=f"{k} {unit}", **{variable: f"{x} {length}"}),
            {word: (k, unit), variable: (x, length, "High")}, (watch,))


def damper(m, module=tr, unit="N*s/m", watch="f"):
    d = m.number(0.1, 3)
    made = module.Damper if module is tr else module.RotationalDamper
    return made(damping=f"{d} {unit}"), {"D": (d, unit)}, (watch,)


def friction(m):
    c = m.number(0.1, 1)
    return (tr.TranslationalFriction(breakaway_force=f"{1.5 * c} N", coulomb_force=f"{c} N",
                                     breakaway_velocity="0.2 m/s", viscous_coefficient="0.1 N*s/m"),
            {"brkwy_frc": (f"1.5*{c}", "N"), "brkwy_vel": ("0.2", "m/s"), "Col_frc": (c, "N"),
             "visc_coef": ("0.1", "N*s/m")}, ("f",))


def translational(m):
    nodes = ["ground", *(f"n{k}" for k in range(m.pick.randint(2, 4)))]
    for node in nodes[1:]:
        mass, v = m.number(0.5, 3), m.number(-1, 1)
        m.add(f"{TR}mass", tr.Mass(mass=f"{mass} kg", v=f"{v} m/s"), {"M": node},
              {"mass": (mass, "kg"), "v": (v, "m/s", "High")}, ("v",))
    m.add(f"{TR}reference", tr.Reference(), {"V": "ground"})
    table = [(f"{TR}spring", spring, "RC"), (f"{TR}damper", damper, "RC"),
             (f"{TR}friction", friction, "RC")]
    m.two_ports(table, m.pick.randint(3, 6), nodes)
    m.add("foundation.mechanical.sources.force", tr.ForceSource(),
          {"R": nodes[-1], "S": "s", "C": "ground"})
    m.add("foundation.mechanical.sensors.velocity", tr.MotionSensor(),
          {"R": nodes[1], "C": "ground", "V": "speed", "P": "place"}, {}, ("P",))
    m.drive("s", "N")
    m.shown("speed", "m/s", "V")


def rotational(m):
    nodes = ["ground", "n0", "n1", "n2"]
    for node in nodes[1:]:
        inertia, w = m.number(0.5, 3), m.number(-60, 60)
        m.add(f"{RO}inertia", ro.Inertia(inertia=f"{inertia} kg*m^2", w=f"{w} rpm"), {"I": node},
              {"inertia": (inertia, "kg*m^2"), "w": (w, "rpm", "High")}, ("w",))
    m.add(f"{RO}reference", ro.RotationalReference(), {"W": "ground"})
    table = [(f"{RO}spring", lambda m: spring(m, ro, ("spr_rate", "N*m/rad", "phi", "rad"), "t"),
              "RC"), (f"{RO}damper", lambda m: damper(m, ro, "N*m*s/rad", "t"), "RC")]
    m.two_ports(table, 5, nodes)
    m.add("foundation.mechanical.sources.torque", ro.TorqueSource(),
          {"R": "n2", "S": "s", "C": "ground"})
    m.drive("s", "N*m")


def electrical(m):
    def resistor(m):
        r = m.number(1, 50)
        return el.Resistor(resistance=f"{r} ohm"), {"R": (r, "Ohm")}, ("i",)

    def capacitor(m):
        c, v, r = m.number(10, 500), m.number(-5, 5), m.pick.choice([0, 0.5])
        extra = {"parasitic": True, "series_resistance": f"{r} ohm"} if r else {}
        return (el.Capacitor(capacitance=f"{c} uF", vc=f"{v} V", **extra),
                {"c": (c, "uF"), "r": (r, "Ohm"), "g": (0, "1/Ohm"), "vc": (v, "V", "High")},
                ("vc",))

    def inductor(m):
        inductance, g = m.number(1, 50), m.pick.choice([0, 1e-3])
        extra = {"parasitic": True, "parallel_conductance": f"{g} S"} if g else {}
        return (el.Inductor(inductance=f"{inductance} mH", series_resistance="0.3 ohm", **extra),
                {"l": (inductance, "mH"), "r": ("0.3", "Ohm"), "g": (g, "1/Ohm")}, ("i_L",))

    def diode(m):
        return el.Diode(), {"Vf": ("0.6", "V"), "Ron": ("0.3", "Ohm"), "Goff": ("1e-8", "1/Ohm")}, \
            ("i",)

    nodes = ["ground", "n0", "n1", "n2"]
    for a, b in zip(nodes[1:], nodes[2:] + ["ground"], strict=True):  # so that no node floats
        ours, values, watch = resistor(m)
        m.add(f"{EE}resistor", ours, {"p": a, "n": b}, values, watch)
    m.two_ports([(f"{EE}capacitor", capacitor, "pn"), (f"{EE}inductor", inductor, "pn"),
                 (f"{EE}pwl_diode", diode, "pn"), (f"{EE}resistor", resistor, "pn")], 4, nodes)
    m.add(f"{EE}reference", el.ElectricalReference(), {"V": "ground"})
    m.add("foundation.electrical.sources.controlled_voltage", el.ControlledVoltageSource(),
          {"p": "n3", "vT": "s", "n": "ground"})
    r = m.number(1, 10)
    m.add(f"{EE}resistor", el.Resistor(resistance=f"{r} ohm"), {"p": "n3", "n": "n0"},
          {"R": (r, "Ohm")}, ("i",))
    m.add("foundation.electrical.sensors.voltage", el.VoltageSensor(),
          {"p": "n0", "V": "volts", "n": "ground"}, {}, ("V",))
    m.drive("s", "V")
    m.shown("volts", "V", "V")


def thermal(m):
    nodes = ["air", "n0", "n1", "n2"]
    for node in nodes[1:]:
        mass, t = m.number(0.1, 1), m.number(0, 80)
        m.add(f"{TE}mass", th.ThermalMass(mass=f"{mass} kg", specific_heat="450 J/(K*kg)",
                                          T=f"{t} degC"), {"M": node},
              {"mass": (mass, "kg"), "sp_heat": ("450", "J/(K*kg)"), "T": (t, "degC", "High")},
              ("T",))

    def conduction(m):
        k = m.number(10, 400)
        return (th.ConductiveHeatTransfer(area="10 cm^2", thickness="0.1 m",
                                          thermal_conductivity=f"{k} W/(m*K)"),
                {"thermal_type": (1, "1"), "wall_geometry": (1, "1"), "area": (10, "cm^2"),
                 "thickness": ("0.1", "m"), "th_cond": (k, "W/(m*K)")}, ("Q",))

    def convection(m):
        h = m.number(5, 100)
        made = th.ConvectiveHeatTransfer(area="0.05 m^2",
                                         heat_transfer_coefficient=f"{h} W/(m^2*K)")
        return made, {"thermal_type": (1, "1"), "area": ("0.05", "m^2"),
                      "heat_tr_coeff": (h, "W/(m^2 * K)")}, ("Q",)

    for node in nodes[1:]:
        ours, values, watch = convection(m)
        m.add(f"{TE}convection", ours, {"A": node, "B": "air"}, values, watch)
    m.two_ports([(f"{TE}conduction", conduction, "AB"), (f"{TE}convection", convection, "AB")], 4,
                nodes)
    m.add("foundation.thermal.sources.temperature", th.TemperatureSource(temperature="15 degC"),
          {"A": "air"}, {"temperature": ("15", "degC")})
    m.add("foundation.thermal.sources.controlled_heat_flow", th.HeatFlowRateSource(),
          {"B": "n0", "S": "s", "A": "air"})
    m.drive("s", "W")


def magnetic(m):
    """Iron paths between random nodes, a coil on one of them and its circuit."""
    def path(m):
        g, area = m.number(1, 50), m.number(1, 9)
        return (ma.Reluctance(length=f"{g} mm", area=f"{area} cm^2", relative_permeability=300),
                {"g": (g, "mm"), "CSA": (area, "cm^2"), "mur": (300, "1")}, ("phi",))

    def direct(m):
        r = m.number(1e4, 1e5)
        return ma.FundamentalReluctance(reluctance=f"{r} 1/H"), {"R": (r, "1/H")}, ("phi",)

    nodes = ["ground", "n0", "n1", "n2"]
    for node in nodes[1:]:  # a path to the reference, so that no node floats
        ours, values, watch = path(m)
        m.add("foundation.magnetic.elements.reluctance", ours, {"N": node, "S": "ground"}, values,
              watch)
    m.two_ports([("foundation.magnetic.elements.reluctance", path, "NS"),
                 ("foundation.magnetic.elements.fundamental_reluctance", direct, "NS")], 4, nodes)
    m.add("foundation.magnetic.elements.reference", ma.MagneticReference(), {"M": "ground"})
    turns, r = m.pick.randint(10, 200), m.number(1, 10)
    m.add("foundation.magnetic.elements.electromagnetic_converter",
          ma.ElectromagneticConverter(turns=turns), {"p": "coil", "n": "earth", "N": "n0",
                                                     "S": "n1"}, {"N": (turns, "1")}, ("i",))
    m.add(f"{EE}reference", el.ElectricalReference(), {"V": "earth"})
    m.add("foundation.electrical.sources.controlled_voltage", el.ControlledVoltageSource(),
          {"p": "source", "vT": "s", "n": "earth"})
    m.add(f"{EE}resistor", el.Resistor(resistance=f"{r} ohm"), {"p": "source", "n": "coil"},
          {"R": (r, "Ohm")}, ("i",))
    m.drive("s", "V")


def isothermal_liquid(m):
    """Chambers that leak into each other and into a tank, and a pressure that swings."""
    def leakage(m):
        length, inner = m.number(1, 9), m.number(0.5, 0.9)
        return (il.LaminarLeakage(cross_section_geometry="annular", inner_diameter=f"{inner} mm",
                                  outer_diameter="1 mm", length=f"{length} m"),
                {"cross_section_geometry": ("foundation.enum.cross_section_geometry.annular", "1"),
                 "inner_diameter": (inner, "mm"), "outer_diameter": ("1e-3", "m"),
                 "length": (length, "m")}, ("mdot",))

    def orifice(m):  # its flow near balance magnifies the errors of a run: pressures are compared
        area = m.number(0.1, 2)
        return (il.LocalRestriction(restriction_type="fixed", area=f"{area} mm^2",
                                    discharge_coefficient=0.7, critical_reynolds=12,
                                    pressure_recovery=False),
                {"restriction_type": (2, "1"), "restriction_area": (area, "mm^2"), "area":
                 ("inf", "m^2"), "Cd": ("0.7", "1"), "Re_c": (12, "1"),
                 "pressure_recovery": ("simscape.enum.onoff.off", "1")}, ())

    nodes = ["tank", "n0", "n1", "n2"]
    for node in nodes[1:]:
        volume, p = m.number(1, 20), m.number(0.1, 2)
        m.add("foundation.isothermal_liquid.elements.constant_volume_chamber",
              il.ConstantVolumeChamber(volume=f"{volume} l", p_I=f"{p} MPa"), {"A": node},
              {"volume": (f"{volume}e-3", "m^3"), "p_I": (p, "MPa", "High")}, ("p_I",))
    m.two_ports([("foundation.isothermal_liquid.elements.laminar_leakage", leakage, "AB"),
                 ("foundation.isothermal_liquid.elements.local_restriction", orifice, "AB")], 5,
                nodes)
    m.add("foundation.isothermal_liquid.elements.reservoir", il.Reservoir(), {"A": "tank"},
          {"pressure_spec": ("foundation.enum.pressure_spec.atmospheric", "1")})
    m.add("foundation.isothermal_liquid.sources.pressure_source", il.PressureSource(),
          {"A": "tank", "P": "s", "B": "pump"})
    ours, values, watch = leakage(m)
    m.add("foundation.isothermal_liquid.elements.laminar_leakage", ours,
          {"A": "pump", "B": "n0"}, values, watch)
    m.drive("s", "kPa")


MAKERS = {"translational": (translational, "ground"), "rotational": (rotational, "ground"),
          "electrical": (electrical, "ground"), "thermal": (thermal, "air"),
          "magnetic": (magnetic, "earth"), "isothermal_liquid": (isothermal_liquid, "tank")}


@pytest.mark.parametrize("domain", MAKERS)
@pytest.mark.parametrize(("seed", "release"), list(enumerate(RELEASES)))
def test_a_random_model_converts_to_the_model_it_was_written_from(domain, seed, release, tmp_path):
    make, ground = MAKERS[domain]
    both = Twice(f"{domain} {seed}")
    make(both)
    both.finish(ground)
    result = convert(write(tmp_path / "random.slx", both.drawn, release))
    assert {e.outcome for e in result.entries} <= {"mapped", "left out"}
    other = built(result.text, tmp_path)
    options = {"rtol": 1e-9, "every": "20 ms"}
    theirs, ours = other.simulate("1 s", **options), both.model.simulate("1 s", **options)
    for path, own in both.watched:
        a, b = theirs[path].to_numpy(), ours[own].to_numpy()
        assert_allclose(a, b, rtol=0, atol=2e-7 * max(np.abs(b).max(), 1e-3), err_msg=path)
