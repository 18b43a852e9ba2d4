"""Set-valued laws: stick or slip, closed or open, and with what effort?

Dry friction, unilateral contacts, ideal diodes and one-way clutches are all
one statement: an effort within bounds whose flow is in the normal cone of the
bounds. The rest of the network enters as rate = b - D effort. This room knows
arrays only: no components, units, time or events.

`solve`
    modes, efforts and rates of all elements at an instant, within bounds that may depend on
    other efforts (mu N)
`choose`
    who of several at rest begins to move, once what moves is held by less; in machine code
    `moving.choose_jointly`
`undetermined_groups`
    which efforts the motion leaves open
`share_of`, `shares_at_times`, `kept`
    which of them are shown, and who is at a bound where others hold it; bounds may follow efforts
`stress_groups`
    who shares in given directions of internal stress
`open_load`
    whether the motion depends on efforts that it leaves open
`solve_mixed`
    efforts and flows where bounds may be endless and elements may take their flow: diodes, and
    frictions at nodes without mass
`sequential_impact`
    restitution of contacts that close, with the dry friction that they load
`signed_pivot`
    how far a matrix is from being singular, and on which side
`is_positive`
    whether the laws have one answer for every load, of symmetric matrices

Signs: efforts are carried from R to C and flows are R minus C. Friction that
slides forward (flow > 0) has effort = upper bound. Contacts have efforts in
[0, inf) and flows that are positive while approaching.
"""

from .impact import Friction, Impact, sequential_impact
from .islands_at_rest import Island, Shares, at_ends, kept, share_of, shares_at_times, weights
from .mixed import Mixed, solve_mixed
from .p_matrix import is_positive, signed_pivot
from .scaling import components
from .solving import Solution, Status, choose, solve
from .undetermined import Stress, open_load, stress_groups, undetermined_groups

__all__ = [
    "Friction",
    "Mixed",
    "Impact",
    "Island",
    "Shares",
    "Solution",
    "Status",
    "Stress",
    "at_ends",
    "choose",
    "components",
    "is_positive",
    "kept",
    "open_load",
    "sequential_impact",
    "share_of",
    "shares_at_times",
    "signed_pivot",
    "solve",
    "solve_mixed",
    "stress_groups",
    "undetermined_groups",
    "weights",
]
