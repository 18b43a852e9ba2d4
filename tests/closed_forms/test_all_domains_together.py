"""Random networks of all domains at once: no energy is lost, and entropy never falls.

Mechanics, circuits, magnets, liquid and heat are joined by converters between any two of them;
what any element dissipates warms one of a few bodies. In a network without sources all energy
together, heat included, stays what it was at the start, and the entropy of the bodies can only
grow: the sums are taken here, from what the parts hold.
"""

from functools import cache

import numpy as np
import pytest
from benches import few

import library.electrical as el
import library.electromechanical as em
import library.isothermal_liquid as il
import library.magnetic as mag
import library.rotational as rot
import library.thermal as th
from blocks import Model, quantity
from library.mechanisms import GearBox, RackAndPinion
from library.translational import Damper, HardStop, Mass, Reference, Spring, TranslationalFriction

PRESSURE = 5.0  # MPa, around which the liquid is


class Plan:
    """The parts of a model and what is joined, to be written down in any order."""

    def __init__(self):
        self.parts, self.joins = {}, []

    def add(self, name, part):
        return self.parts.setdefault(name, part)

    def connect(self, *ports):
        self.joins.append(ports)

    def written(self, order=None):
        """The model; ``order`` is the seed of another order than that of its growth."""
        model, names, joins = Model("mixed"), list(self.parts), list(self.joins)
        if order is not None:
            chance = np.random.default_rng(order)
            chance.shuffle(names)
            chance.shuffle(joins)
        for name in names:
            model.add(name, self.parts[name])
        for ports in joins:
            model.connect(*ports)
        return model


class Mixed:
    """Grows a network: nodes of every domain, trees of links on them, and converters between."""

    def __init__(self, seed, sources=False, diode=None, order=None):
        self.rng = np.random.default_rng(seed)
        self.model = plan = Plan()
        self.bodies = []
        self.diode = diode or {"on_resistance": "0.05 ohm", "off_conductance": "1e-3 S"}
        self.nodes = {
            "translational": self.grow("m", "M", self.mass),
            "rotational": self.grow("j", "I", self.inertia),
            "liquid": self.grow("v", "A", self.chamber),
            "electrical": [self.add("ground", el.ElectricalReference()).V],
            "magnetic": [self.add("pole", mag.MagneticReference()).M]}
        self.bodies = self.grow("body", "M", lambda: th.ThermalMass(
            mass=self.about(0.02, "kg"), T=self.between(280, 400, "K")))  # fmt: skip
        self.ground = {"translational": self.add("floor", Reference()).V,
                       "rotational": self.add("frame", rot.RotationalReference()).W}
        self.trees()
        self.heat()
        for k in range(int(self.rng.integers(2, 6))):
            self.convert(k)
        if sources:
            self.link("mains", el.ACVoltageSource(amplitude="3 V", frequency="7 Hz"), "p", "n",
                      self.circuit(), self.nodes["electrical"][0])
            self.link("feed", el.DCCurrentSource(current="-0.5 A"), "p", "n",
                      self.circuit(), self.nodes["electrical"][0])  # fmt: skip
        self.model = plan.written(order)

    # -- values ----------------------------------------------------------------------------
    def about(self, size, unit):
        return quantity(size * 10 ** self.rng.uniform(-0.4, 0.4), unit)

    def between(self, low, high, unit):
        return quantity(self.rng.uniform(low, high), unit)

    def one(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    # -- parts -----------------------------------------------------------------------------
    def add(self, name, part):
        return self.model.add(name, part)

    def grow(self, name, port, make):
        return [getattr(self.add(f"{name}{k}", make()), port)
                for k in range(int(self.rng.integers(2, 4)))]  # fmt: skip

    def link(self, name, part, one, other, a, b):
        self.add(name, part)
        self.model.connect(getattr(part, one), a)
        self.model.connect(getattr(part, other), b)
        if getattr(part, "thermal_port", False):
            self.model.connect(part.H, self.one(self.bodies))

    def mass(self):
        return Mass(mass=self.about(1, "kg"), v=self.between(-1, 1, "m/s"))

    def inertia(self):
        return rot.Inertia(inertia=self.about(0.1, "kg*m^2"), w=self.between(-5, 5, "rad/s"))

    def chamber(self):
        if self.rng.random() < 0.25:
            return il.GasChargedAccumulator(precharge_pressure="3 MPa", total_volume="1 l",
                                            volume=self.between(0.3, 0.5, "l"))
        return il.ConstantVolumeChamber(volume=self.about(1, "l"), p_I=self.between(4, 6, "MPa"))

    def trees(self):
        """Every node hangs on an earlier one of its domain, or on the ground."""
        for domain, nodes in self.nodes.items():
            if domain not in ("translational", "rotational", "liquid"):
                continue
            for k, node in enumerate(nodes):
                below = nodes[:k] if domain == "liquid" else [self.ground[domain], *nodes[:k]]
                if not below:
                    continue
                for n, part in enumerate(getattr(self, f"{domain}_links")()):
                    ends = ("A", "B") if domain == "liquid" else ("R", "C")
                    self.link(f"{domain}{k}_{n}", part, *ends, node, self.one(below))

    def translational_links(self):
        spring = Spring(stiffness=self.about(1e4, "N/m"), x=self.between(-1e-2, 1e-2, "m"))
        loss = self.one([
            Damper(damping=self.about(20, "N*s/m"), thermal_port=True),
            TranslationalFriction(law="coulomb", coulomb_force=self.about(5, "N"),
                                  breakaway_force="40 N", thermal_port=True),
            HardStop(upper_bound="5 mm", lower_bound="-30 mm", model="full", thermal_port=True),
        ])  # fmt: skip
        return spring, loss

    def rotational_links(self):
        spring = rot.RotationalSpring(stiffness=self.about(50, "N*m/rad"),
                                      phi=self.between(-0.1, 0.1, "rad"))  # fmt: skip
        loss = self.one([
            rot.RotationalDamper(damping=self.about(0.3, "N*m*s/rad"), thermal_port=True),
            rot.RotationalFriction(law="coulomb", coulomb_torque=self.about(0.3, "N*m"),
                                   breakaway_torque="2 N*m", thermal_port=True)])  # fmt: skip
        return spring, loss

    def liquid_links(self):
        return (self.one([
            il.LocalRestriction(restriction_type="fixed", area=self.about(2, "mm^2"),
                                thermal_port=True),
            il.LaminarLeakage(diameter="2 mm", length="0.3 m", thermal_port=True),
            il.FlowResistance(pressure_drop="1 MPa", mass_flow="0.05 kg/s", thermal_port=True),
            il.CheckValve(maximum_area="5 mm^2", thermal_port=True),
            il.Pipe(length="1 m", area="10 mm^2", hydraulic_diameter="3.5 mm",
                    p_I=self.between(4, 6, "MPa"), inertia=bool(self.rng.random() < 0.5),
                    thermal_port=True),
        ]),)  # fmt: skip

    def heat(self):
        for k, body in enumerate(self.bodies):
            part = self.one([th.ThermalResistance(resistance=self.about(0.3, "K/W")),
                             th.ConvectiveHeatTransfer(area=self.about(0.1, "m^2")),
                             th.RadiativeHeatTransfer(area=self.about(1, "m^2"))])  # fmt: skip
            if k:
                self.link(f"heat{k}", part, "A", "B", body, self.one(self.bodies[:k]))

    def circuit(self):
        """A new electrical node, with a few elements towards others."""
        nodes = self.nodes["electrical"]
        k = len(nodes)
        first = self.add(f"r{k}", el.Resistor(resistance=self.about(2, "ohm"), thermal_port=True))
        self.model.connect(first.H, self.one(self.bodies))
        self.model.connect(first.n, self.one(nodes))
        for n in range(int(self.rng.integers(1, 4))):
            part = self.one([
                el.Capacitor(capacitance=self.about(0.05, "F"), vc=self.between(-5, 5, "V")),
                el.Inductor(inductance=self.about(0.1, "H"), i_L=self.between(-3, 3, "A")),
                el.Diode(thermal_port=True, **self.diode)])  # fmt: skip
            other = self.add(f"r{k}_{n}", el.Resistor(resistance=self.about(1, "ohm"),
                                                      thermal_port=True))  # fmt: skip
            self.link(f"e{k}_{n}", part, "p", "n", first.p, other.p)
            self.model.connect(other.H, self.one(self.bodies))
            self.model.connect(other.n, self.one(nodes))
        nodes.append(first.p)
        return first.p

    def gap(self):
        """A new magnetic node that is held to others by iron."""
        nodes = self.nodes["magnetic"]
        k = len(nodes)
        iron = self.add(f"iron{k}", mag.FundamentalReluctance(reluctance=self.about(1e4, "1/H")))
        self.model.connect(iron.S, self.one(nodes))
        if self.rng.random() < 0.5:
            nodes.append(iron.N)
            return iron.N
        eddy = mag.EddyCurrent(conductance=self.about(30, "1/ohm"), thermal_port=True)
        self.link(f"eddy{k}", eddy, "S", "N", iron.N, self.one(nodes))
        nodes.append(iron.N)
        return iron.N

    # -- from one domain into another --------------------------------------------------------
    def convert(self, k):
        def of(domain):
            return self.one(self.nodes[domain])

        def held(domain):
            return self.one([self.ground[domain], *self.nodes[domain]])

        def mechanics(part, domain):
            moved = of(domain)
            fixed = held(domain)
            self.link(f"c{k}", part, "R", "C", moved,
                      self.ground[domain] if fixed is moved else fixed)  # fmt: skip

        kind = int(self.rng.integers(13))
        turn, slide = "rotational", "translational"
        if kind == 0:
            mechanics(part := em.RotationalElectromechanicalConverter(
                constant=self.about(0.5, "V*s/rad")), turn)  # fmt: skip
            self.coil(part)
        elif kind == 1:
            mechanics(part := em.TranslationalElectromechanicalConverter(
                constant=self.about(3, "V*s/m")), slide)  # fmt: skip
            self.coil(part)
        elif kind == 2:
            mechanics(part := em.DCMotor(
                resistance="1 ohm", inductance="20 mH", back_emf_constant="0.3 V*s/rad",
                inertia="0.02 kg*m^2", damping="0.01 N*m*s/rad", thermal_port=True), turn)
            self.coil(part)
        elif kind == 3:
            mechanics(part := em.VoiceCoil(resistance="2 ohm", inductance="30 mH",
                                           constant="4 V*s/m", thermal_port=True), slide)
            self.coil(part)
        elif kind == 4:
            part = mag.ElectromagneticConverter(turns=50)
            self.link(f"c{k}", part, "N", "S", self.gap(), self.nodes["magnetic"][0])
            self.coil(part)
        elif kind == 5:
            mechanics(part := mag.ReluctanceForceActuator(
                area="0.5 cm^2", x="30 mm", least_gap="1 mm", model="full", thermal_port=True),
                slide)
            self.model.connect(part.N, self.gap())
            self.model.connect(part.S, self.nodes["magnetic"][0])
        elif kind == 6:
            mechanics(part := il.TranslationalMechanicalConverter(
                interface_area="1 cm^2", dead_volume="0.2 l", pressure_spec="specified",
                environment_pressure=quantity(PRESSURE, "MPa"), p_I="5 MPa",
                mech_orientation=self.one(["positive", "negative"])), slide)  # fmt: skip
            self.pipe_to(k, part.A)
        elif kind == 7:
            mechanics(part := il.RotationalMechanicalConverter(
                displacement="2e-6 m^3/rad", dead_volume="0.2 l", pressure_spec="specified",
                environment_pressure=quantity(PRESSURE, "MPa"), p_I="5 MPa"), turn)
            self.pipe_to(k, part.A)
        elif kind == 8:
            mechanics(part := self.one([il.FixedDisplacementPump, il.FixedDisplacementMotor])(
                displacement="0.5 cm^3/rad"), turn)  # fmt: skip
            nodes = self.nodes["liquid"]
            self.model.connect(part.A, nodes[0])
            self.model.connect(part.B, nodes[1])
        elif kind == 9:
            rack = RackAndPinion(radius=self.about(0.1, "m"))
            self.link(f"c{k}", rack, "P", "R", of(turn), of(slide))
        elif kind == 10:
            gear = GearBox(ratio=float(self.rng.uniform(0.5, 3)))
            nodes = self.nodes[turn]
            self.link(f"c{k}", gear, "S", "O", nodes[0], nodes[1])
        elif kind == 11:
            part = self.link(f"c{k}", el.IdealTransformer(ratio=float(self.rng.uniform(0.5, 2))),
                             "p1", "n1", self.circuit(), self.nodes["electrical"][0])
            self.two_port(k)
        else:
            self.link(f"c{k}", el.Gyrator(conductance=self.about(0.5, "S")),
                      "p1", "n1", self.circuit(), self.nodes["electrical"][0])
            self.two_port(k)

    def coil(self, part):
        self.model.connect(part.p, self.circuit())
        self.model.connect(part.n, self.nodes["electrical"][0])

    def two_port(self, k):
        part = self.model.parts[f"c{k}"]
        self.model.connect(part.p2, self.circuit())
        self.model.connect(part.n2, self.nodes["electrical"][0])

    def pipe_to(self, k, port):
        self.link(f"line{k}", il.LocalRestriction(restriction_type="fixed", area="3 mm^2",
                                                  thermal_port=True),
                  "A", "B", port, self.one(self.nodes["liquid"]))  # fmt: skip

    # -- sums ------------------------------------------------------------------------------
    def energy(self, run):
        """What all parts hold together, in J."""
        return sum(run[f"{path}.energy_stored"].to("J").magnitude
                   for path in self.model.parts if f"{path}.energy_stored" in run)

    def entropy(self, run):
        return sum(
            part.mass.to("kg").m * part.specific_heat.to("J/(kg*K)").m * np.log(
                run[f"{path}.T"].to("K").magnitude)
            for path, part in self.model.parts.items() if isinstance(part, th.ThermalMass)
        )  # fmt: skip


def kept(mixed, end):
    """Energy and entropy over a run, and what its ledger says."""
    run = mixed.model.simulate(end, rtol=1e-8)
    entropy = mixed.entropy(run)
    assert (np.diff(entropy) >= -1e-12 * np.abs(entropy).max()).all()
    assert entropy[-1] > entropy[0]
    ledger = run.energy()
    assert ledger.relative_residual < 1e-7
    return mixed.energy(run), ledger.throughput.to("J").magnitude


CLOSED, FED = (4, 22, 24, 28), (13, 25)  # friction sticks and slips, stops are hit, valves close


@pytest.mark.filterwarnings("ignore::blocks.InitialWarning")  # gears that turn at two speeds
@few(2, "seed", CLOSED)
def test_without_sources_all_energy_stays_and_entropy_grows(seed):
    energy, throughput = kept(Mixed(seed), "0.3 s")
    assert np.ptp(energy) < 1e-7 * throughput


@pytest.mark.filterwarnings("ignore::blocks.InitialWarning")
@few(1, "seed", FED)
def test_with_sources_the_ledger_closes_and_entropy_grows(seed):
    kept(Mixed(seed, sources=True), "0.3 s")


@cache
def fed_run(method="auto", order=None):
    return Mixed(FED[0], sources=True, order=order).model.simulate(
        "0.1 s", rtol=1e-8, method=method)


STATES = ("v", "w", "x", "phi", "p_I", "vc", "i_L", "T")


@pytest.mark.filterwarnings("ignore::blocks.InitialWarning")
@pytest.mark.parametrize(("method", "order"), [("rodas4", None), ("DOP853", None), ("auto", 1)])
def test_neither_the_method_nor_the_order_of_writing_matters(method, order):
    """In machine code or in Python, explicit or implicit: to 1e-6 of the largest of its kind."""
    runs = [fed_run(), fed_run(method, order)]
    for state in STATES:
        paths = [path for path in runs[0] if path.endswith(f".{state}")]
        one, other = ([run[path].final.magnitude for path in paths] for run in runs)
        assert np.abs(np.subtract(one, other)).max(initial=0) <= 1e-6 * np.abs(one).max(initial=0)


def test_ideal_diodes_lose_nothing_of_all_energy():
    energy, throughput = kept(Mixed(0, diode={"model": "ideal"}), "0.1 s")
    assert np.ptp(energy) < 1e-7 * throughput


def test_the_networks_above_have_converters_between_all_domains():
    parts = {type(part) for seed in CLOSED + FED for part in Mixed(seed).model.parts.values()}
    assert {em.RotationalElectromechanicalConverter, em.TranslationalElectromechanicalConverter,
            mag.ElectromagneticConverter, mag.ReluctanceForceActuator,
            il.TranslationalMechanicalConverter, il.FixedDisplacementMotor, em.DCMotor,
            em.VoiceCoil, GearBox, el.IdealTransformer, el.Gyrator, TranslationalFriction,
            rot.RotationalFriction, HardStop, mag.EddyCurrent, il.CheckValve,
            th.RadiativeHeatTransfer} <= parts
