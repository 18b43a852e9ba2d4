"""Motor and solenoid of the comparison with C: the same end values, from library parts."""

from numpy.testing import assert_allclose

from benchmarks.machines import DRIVE_ENDS, SOLENOID_ENDS, drive, solenoid


def test_ten_thousand_edges_of_a_motor_with_a_load_that_sticks():
    run = drive().simulate("1 s", rtol=1e-7)
    for path, expected in DRIVE_ENDS.items():
        assert_allclose(run[path].final.to_base_units().m, expected, atol=1e-8)
    assert run.statistics["events"] == 9999


def test_pull_in_and_drop_out_of_a_solenoid():
    run = solenoid().simulate("100 ms", rtol=1e-9)
    for path, (half, end, scale) in SOLENOID_ENDS.items():
        found = run[path].at(["50 ms", "100 ms"]).to_base_units().m / scale
        assert_allclose(found, [half / scale, end / scale], atol=1e-10)
    assert run.energy().relative_residual < 1e-9
