"""What lipschitz_isotonic_regression takes, what it refuses, and with which words."""

import numpy as np
import pytest

from singleindex import lipschitz_isotonic_regression

X = np.array([3.0, 0.0, 1.0, 2.0, 1.0])
Y = np.array([4.0, 1.0, 3.0, 2.0, 5.0])
EXPECTED = lipschitz_isotonic_regression(X, Y)


def strided(values):
    return np.repeat(values, 3)[::3]


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


CONVERSIONS = {
    "list": list,
    "tuple": tuple,
    "float32": lambda v: v.astype(np.float32),
    "float16": lambda v: v.astype(np.float16),
    "longdouble": lambda v: v.astype(np.longdouble),
    "int": lambda v: v.astype(int),
    "uint8": lambda v: v.astype(np.uint8),
    "object": lambda v: v.astype(object),
    "big-endian": lambda v: v.astype(">f8"),
    "read-only": read_only,
    "strided": strided,
    "backwards": lambda v: v[::-1].copy()[::-1],
    "one column": lambda v: v[:, None],
}


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS)
def test_takes(convert):
    found = lipschitz_isotonic_regression(convert(X), convert(Y), sample_weight=convert(np.ones(5)))
    assert found.dtype == np.float64
    assert found.shape == (5,)
    np.testing.assert_allclose(found, EXPECTED, rtol=1e-15)


def test_takes_booleans_as_y():
    found = lipschitz_isotonic_regression(X, Y > 2, sample_weight=Y > 0)
    assert (found == lipschitz_isotonic_regression(X, (Y > 2).astype(float))).all()


def test_takes_series():
    pd = pytest.importorskip("pandas")
    series = pd.Series(Y, index=[9, 3, 1, 4, 7])
    assert (lipschitz_isotonic_regression(pd.Series(X), series) == EXPECTED).all()


def test_leaves_its_arguments_alone():
    x, y, weight = X.copy(), Y.copy(), np.array([1.0, 0.0, 2.0, 1.0, 3.0])
    before = [v.copy() for v in (x, y, weight)]
    lipschitz_isotonic_regression(x, y, sample_weight=weight, y_min=2, increasing=False)
    for value, old in zip((x, y, weight), before, strict=True):
        assert (value == old).all()


def test_returns_a_new_array_where_nothing_changes():
    y = np.array([0.0, 0.5, 1.0])
    found = lipschitz_isotonic_regression([0.0, 1.0, 2.0], y)
    assert (found == y).all()
    assert not np.shares_memory(found, y)


@pytest.mark.parametrize("name", ["x", "y", "sample_weight"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_refuses_what_is_not_finite(name, bad):
    arguments = {"x": X.copy(), "y": Y.copy(), "sample_weight": np.ones(5)}
    arguments[name][3] = bad
    telling = rf"{name} holds NaN or infinity \(first at position 3\); remove or impute"
    with pytest.raises(ValueError, match=telling):
        lipschitz_isotonic_regression(**arguments)


BAD = {
    "y too short": ({"y": Y[:4]}, "y has 4 values where 5 are needed, one per point of x"),
    "weights too long": ({"sample_weight": np.ones(6)}, "sample_weight has 6 values where 5"),
    "x with two columns": ({"x": np.ones((5, 2))}, r"x must be one-dimensional.*use x.ravel\(\)"),
    "y with two columns": ({"y": np.ones((5, 2))}, "y must be one-dimensional"),
    "a number for y": ({"y": 3.0}, "y must be one-dimensional"),
    "no points": ({"x": [], "y": []}, "x is empty; at least one point"),
    "negative weight": ({"sample_weight": [1, 1, -1, 1, 1]}, "not be negative .first at position 2.; set it"),
    "weights all zero": ({"sample_weight": np.zeros(5)}, "at least one must be positive"),
    "bounds crossed": ({"y_min": 2, "y_max": 1}, "y_min must be at most y_max, got y_min=2, y_max=1"),
    "y_min NaN": ({"y_min": np.nan}, "y_min must be at most y_max"),
    "y_min a word": ({"y_min": "low"}, "y_min"),
    "negative lipschitz": ({"lipschitz": -0.5}, "lipschitz must be a number from 0 to infinity, got -0.5"),
    "lipschitz NaN": ({"lipschitz": np.nan}, "lipschitz must be a number from 0 to infinity"),
    "lipschitz None": ({"lipschitz": None}, "lipschitz must be a number from 0 to infinity"),
    "lipschitz a list": ({"lipschitz": [1.0]}, "lipschitz must be a number from 0 to infinity"),
    "lipschitz True": ({"lipschitz": True}, "lipschitz must be a number from 0 to infinity"),
    "lipschitz a word": ({"lipschitz": "steep"}, "lipschitz must be a number from 0 to infinity"),
    "lipschitz a numeral": ({"lipschitz": "1"}, "lipschitz must be a number from 0 to infinity"),
    "increasing a word": ({"increasing": "down"}, "increasing"),
    "x of words": ({"x": list("abcde")}, "x must hold numbers"),
    "y of words": ({"y": ["1", "2", "three", "4", "5"]}, "y must hold numbers"),
    "y with None": ({"y": [1, None, 2, 3, 4]}, "y holds NaN"),
    "y complex": ({"y": Y + 1j}, "y must hold numbers|complex|real"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "telling"), BAD.values(), ids=BAD)
def test_refuses(change, telling):
    with pytest.raises(ValueError, match=telling):
        lipschitz_isotonic_regression(**{"x": X, "y": Y, **change})


@pytest.mark.parametrize("bounds", [{"y_max": -np.inf}, {"y_min": np.inf}])
def test_bounds_that_no_number_meets(bounds):
    with pytest.raises(ValueError, match="no number is between"):
        lipschitz_isotonic_regression([0.0, 1.0], [0.0, 1.0], **bounds)
