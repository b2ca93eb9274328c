"""What outputs are divided by before they are learned."""

import numpy as np
import pytest

from singleindex.fitting.targets import powers_of_two, units_of_outputs
from singleindex.link import FixedLink, Lpav

Y = np.random.default_rng(0).normal(size=(50, 3)) * [1e-5, 3.0, 1e7]


@pytest.mark.parametrize("largest", [1e-300, 0.75, 1.0, 3.0, 1e300])
def test_one_output_is_brought_near_one_by_a_power_of_two(largest):
    y = np.array([[0.0], [-largest], [largest / 3]])
    (unit,) = units_of_outputs(Lpav(1.0), y, None)
    assert np.frexp(unit)[0] == 0.5  # a power of two: dividing by it loses no digit
    assert 0.5 <= np.abs(y / unit).max() <= 1


def test_several_outputs_are_brought_to_unit_spread():
    unit = units_of_outputs(Lpav(1.0), Y, None)
    np.testing.assert_allclose((Y / unit).std(axis=0), 1)


def test_weights_are_repetitions():
    count = np.random.default_rng(1).integers(1, 4, 50)
    unit = units_of_outputs(Lpav(1.0), Y, count.astype(float))
    np.testing.assert_allclose(unit, units_of_outputs(Lpav(1.0), np.repeat(Y, count, axis=0), None))


@pytest.mark.parametrize("columns", [1, 3])
def test_a_link_with_units_of_its_own_leaves_y_as_it_is(columns):
    assert units_of_outputs(FixedLink("logistic"), Y[:, :columns], None).tolist() == [1.0] * columns
    assert powers_of_two(FixedLink("tanh"), np.array([1e9])).tolist() == [1.0]
