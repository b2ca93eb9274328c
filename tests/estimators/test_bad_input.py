"""Bad input is refused with the fix in the message; unusual but sound input works and stays unchanged."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

from singleindex import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.structures import Sparse

N, D = 40, 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = (X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=N) > 0).astype(int)

MODELS = [SingleIndexRegressor(), SingleIndexClassifier(), Slisotron()]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
every_structured = pytest.mark.parametrize("model", MODELS[:2], ids=lambda m: type(m).__name__)


def refuse(model, match, *args, **kwargs):
    """Assert that fit raises with these words and leaves the model as it was."""
    before = dict(vars(model))
    with pytest.raises(ValueError, match=match):
        model.fit(*args, **kwargs)
    assert vars(model) == before


def test_refuse_fails_where_nothing_is_wrong():
    with pytest.raises(pytest.fail.Exception):
        refuse(SingleIndexRegressor(), "anything", X, Y)
    with pytest.raises(AssertionError):
        refuse(SingleIndexRegressor(), "other words", X[:5], Y)


def put(array, at, value):
    array = array.astype(float).copy()
    array[at] = value
    return array


# ---------------------------------------------------------------- the data


@every_model
@pytest.mark.parametrize("fault", [10**6, -1])
@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix])
def test_x_with_indices_out_of_range(model, fault, convert):
    broken = convert(X)
    broken.indices[7] = fault
    refuse(clone(model), "X is a broken sparse matrix", broken, Y)
    with pytest.raises(ValueError, match="X is a broken sparse matrix"):
        clone(model).fit(X, Y).predict(broken)


@every_model
@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize(("starts", "indices"), [(np.int64, np.int32), (np.int32, np.int64)])
def test_x_with_indices_of_two_types(model, convert, starts, indices):
    plain, mixed = convert(X), convert(X)
    mixed.indptr, mixed.indices = mixed.indptr.astype(starts), mixed.indices.astype(indices)
    got, expected = clone(model).fit(mixed, Y), clone(model).fit(plain, Y)
    assert (got.coef_ == expected.coef_).all()
    assert (got.predict(mixed) == expected.predict(plain)).all()
    assert (mixed.indptr.dtype, mixed.indices.dtype) == (starts, indices)


@every_model
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_x_not_finite(model, bad, convert):
    word = "NaN" if np.isnan(bad) else "infinity"
    refuse(clone(model), f"Input X contains {word}", convert(put(X, (3, 2), bad)), Y)
    fitted = clone(model).fit(X, Y)
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        fitted.predict(convert(put(X, (3, 2), bad)))


@every_model
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_y_not_finite(model, bad):
    refuse(clone(model), "Input y contains (NaN|infinity)|Input contains (NaN|infinity)", X, put(Y, 3, bad))


@every_model
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_not_finite(model, bad):
    weight = put(np.ones(N), 3, bad)
    refuse(clone(model), "sample_weight contains (NaN|infinity)", X, Y, sample_weight=weight)


@every_model
def test_weights_negative(model):
    weight = put(np.ones(N), 3, -1.0)
    refuse(clone(model), "[Nn]egative values in data passed to `sample_weight`", X, Y, sample_weight=weight)


@every_model
def test_weights_all_zero(model):
    telling = "at least one (must be positive|non-zero number)"
    refuse(clone(model), telling, X, Y, sample_weight=np.zeros(N))


@every_model
@pytest.mark.parametrize("weight", [np.ones(N - 1), np.ones((N, 2))])
def test_weights_of_wrong_shape(model, weight):
    refuse(clone(model), "[Ss]ample.?weight", X, Y, sample_weight=weight)


WRONG_SHAPES = {
    "X of one dimension": (X[:, 0], Y, "[Rr]eshape your data"),
    "X of three dimensions": (X[:, :, None], Y, "dim 3|3D|expected <= 2"),
    "y too short": (X, Y[:-1], "inconsistent numbers of samples"),
    "no rows": (X[:0], Y[:0], "minimum of 2 is required|minimum of 1 is required"),
    "one row": (X[:1], Y[:1], "minimum of 2 is required"),
    "no columns": (X[:, :0], Y, "0 feature"),
}


@every_model
@pytest.mark.parametrize(("bad_X", "bad_y", "telling"), WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_wrong_shapes(model, bad_X, bad_y, telling):
    refuse(clone(model), telling, bad_X, bad_y)


@pytest.mark.parametrize("model", [SingleIndexRegressor(), Slisotron()], ids=repr)
def test_constant_y(model):
    refuse(clone(model), "y is constant .3.*At least two different values", X, np.full(N, 3.0))
    weight = (Y == 1).astype(float)
    refuse(clone(model), "constant.*rows of positive weight", X, Y, sample_weight=weight)


def test_constant_column_of_y():
    both = np.column_stack([Y, np.full(N, 2.0)])
    refuse(SingleIndexRegressor(), "Column 1 of y is constant", X, both)


def test_one_class():
    refuse(SingleIndexClassifier(), "only one class.*at least two classes", X, np.ones(N, int))
    weight = (Y == 1).astype(float)
    refuse(SingleIndexClassifier(), "only one class", X, Y, sample_weight=weight)


def test_a_class_without_weight():
    y = Y + (np.arange(N) == 5)
    y[5] = 2
    weight = (y != 2).astype(float)
    refuse(SingleIndexClassifier(), "class .*2.* has no sample of positive weight; leave its rows out",
           X, y, sample_weight=weight)  # fmt: skip


def test_continuous_y_for_the_classifier():
    refuse(SingleIndexClassifier(), "[Uu]nknown label type", X, X[:, 0])


@pytest.mark.parametrize("model", [SingleIndexRegressor(), Slisotron()], ids=repr)
def test_words_as_y_for_a_regressor(model):
    refuse(clone(model), "could not convert string to float|numeric", X, np.array(["a", "b"])[Y])


@every_model
def test_words_in_x(model):
    refuse(clone(model), "could not convert string to float|numeric", X.astype(str).astype(object) + "?", Y)


@every_model
def test_complex_x(model):
    refuse(clone(model), "Complex data not supported", X + 1j, Y)


@every_structured
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_all_columns_constant(model, convert):
    for value in (0.0, 1.0, 0.1):
        flat = convert(np.full((N, D), value))
        refuse(clone(model), "[Ee]very column of X is constant.*[Cc]heck that the right columns", flat, Y)
    weight = np.zeros(N)
    weight[:10] = 1
    bad = put(X, slice(0, 10), 2.5)
    assert len(set(Y[:10])) == 2
    refuse(clone(model), "[Ee]very column of X is constant", convert(bad), Y, sample_weight=weight)


@every_model
def test_columns_missing_at_predict(model):
    fitted = clone(model).fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 6 features"):
        fitted.predict(X[:, :5])


@every_model
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_renamed_reordered_or_missing_at_predict(model, library):
    frames = pytest.importorskip(library)
    names = [f"c{j}" for j in range(D)]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    fitted = clone(model).fit(frame, Y)
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        fitted.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match="seen at fit time, yet now missing"):
        fitted.predict(frame[names[:-1]])
    renamed = frames.DataFrame({f"x{name}": X[:, j] for j, name in enumerate(names)})
    with pytest.raises(ValueError, match="unseen at fit time"):
        fitted.predict(renamed)


# ---------------------------------------------------------------- the settings

SETTINGS = {
    "n_atoms 0": ({"n_atoms": 0}, "n_atoms must be from 1 to 6.*use n_atoms=None for no limit"),
    "n_atoms negative": ({"n_atoms": -2}, "n_atoms must be from 1 to 6"),
    "n_atoms above d": ({"n_atoms": 7}, "n_atoms must be from 1 to 6.*got 7"),
    "n_atoms a float": ({"n_atoms": 0.5}, r"n_atoms must be an integer.*int\(share \* n_features\)"),
    "n_atoms a whole float": ({"n_atoms": 3.0}, "n_atoms must be an integer"),
    "n_atoms True": ({"n_atoms": True}, "n_atoms must be an integer"),
    "n_atoms a word": ({"n_atoms": "all"}, "n_atoms must be an integer"),
    "alpha negative": ({"alpha": -1.0}, "alpha must be a finite number of at least 0"),
    "alpha infinite": ({"alpha": np.inf}, "alpha must be a finite number"),
    "alpha NaN": ({"alpha": np.nan}, "alpha must be a finite number"),
    "alpha None": ({"alpha": None}, "alpha must be a finite number"),
    "lipschitz zero": ({"lipschitz": 0}, "lipschitz=0 leaves only a constant link; use a positive"),
    "lipschitz negative": ({"lipschitz": -1.0}, "lipschitz must be a number from 0 to infinity"),
    "lipschitz a word": ({"lipschitz": "auto"}, "lipschitz must be a number from 0 to infinity"),
    "scale_power negative": ({"scale_power": -0.5}, "scale_power must be a finite number"),
    "scale_power a word": ({"scale_power": "std"}, "scale_power must be a finite number"),
    "link unknown": ({"link": "probit!"}, "link must be 'learned', a function, or one of.*'logistic'"),
    "max_iter zero": ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
    "max_iter a float": ({"max_iter": 10.0}, "max_iter must be an integer of at least 1"),
    "tol negative": ({"tol": -1e-3}, "tol must be a finite number of at least 0"),
}


@every_structured
@pytest.mark.parametrize(("change", "telling"), SETTINGS.values(), ids=SETTINGS)
def test_bad_settings(model, change, telling):
    refuse(clone(model).set_params(**change), telling, X, Y)


@pytest.mark.parametrize(
    ("change", "telling"),
    [
        ({"lipschitz": -1.0}, "lipschitz must be a number from 0 to infinity"),
        ({"lipschitz": "steep"}, "lipschitz must be a number from 0 to infinity"),
        ({"lipschitz": np.nan}, "lipschitz must be a number from 0 to infinity"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"tol": -1.0}, "tol must be a finite number of at least 0"),
    ],
)
def test_bad_settings_of_slisotron(change, telling):
    refuse(Slisotron(**change), telling, X, Y)


def test_link_of_wrong_kind():
    for link in (None, 3, ["logistic"]):
        refuse(SingleIndexRegressor(link=link), "link must be 'learned', a function, or one of", X, Y)


def test_unknown_class_in_class_weight():
    refuse(SingleIndexClassifier(class_weight={0: 1.0, 7: 2.0}), "7|class", X, Y)


def test_parameters_are_checked_in_fit_only():
    """scikit-learn's rule: the constructor stores, fit checks."""
    SingleIndexRegressor(n_atoms=-1, alpha="?", lipschitz=None)
    LipschitzIsotonicRegression(lipschitz=-1, out_of_bounds="?")


# ---------------------------------------------------------------- unusual but sound


@every_model
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_columns_of_zeros_get_no_coefficient(model, convert):
    wide = np.column_stack([np.zeros(N), X, np.zeros(N)])
    fitted = clone(model).fit(convert(wide), Y)
    assert fitted.coef_[0] == fitted.coef_[-1] == 0
    without = clone(model).fit(convert(X), Y)
    np.testing.assert_allclose(fitted.coef_[1:-1], without.coef_, atol=1e-10)


@every_model
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_rows_of_zeros(model, convert):
    some = put(X, slice(0, 5), 0.0)
    fitted = clone(model).fit(convert(some), Y)
    assert np.isfinite(fitted.coef_).all()
    assert fitted.score(convert(some), Y) > 0.3
    assert np.isfinite(fitted.index(convert(np.zeros((3, D))))).all()


@every_model
def test_read_only_arrays(model):
    parts = [X.copy(), Y.copy(), np.ones(N)]
    for part in parts:
        part.flags.writeable = False
    fitted = clone(model).fit(parts[0], parts[1], sample_weight=parts[2])
    fitted.predict(parts[0])
    assert (parts[0] == X).all()
    frozen = sparse.csc_array(X)
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    clone(model).fit(frozen, Y).predict(frozen)


@every_model
@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_memory_mapped_arrays(model, mode, tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    stored = (tmp_path / "X.npy").read_bytes()
    mapped, y = np.load(tmp_path / "X.npy", mmap_mode=mode), np.load(tmp_path / "y.npy", mmap_mode=mode)
    fitted = clone(model).fit(mapped, y)
    in_memory = clone(model).fit(X, Y)
    np.testing.assert_array_equal(fitted.coef_, in_memory.coef_)
    np.testing.assert_array_equal(fitted.predict(mapped), in_memory.predict(X))
    assert (mapped == X).all()
    assert (tmp_path / "X.npy").read_bytes() == stored


@every_model
@pytest.mark.parametrize(
    "convert", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]
)
def test_data_are_never_changed(model, convert):
    data, y, weight = convert(X.copy()), Y.copy(), RNG.random(N)
    before, old_weight = convert(X.copy()), weight.copy()
    clone(model).fit(data, y, sample_weight=weight).predict(data)
    assert abs(data - before).max() == 0
    assert (y == Y).all()
    assert (weight == old_weight).all()


@every_model
@pytest.mark.parametrize("convert", [list, lambda a: a.astype(int), lambda a: a.astype(bool)])
def test_integers_booleans_and_lists(model, convert):
    counts = np.abs(np.round(3 * X))
    fitted = clone(model).fit(convert(counts), list(Y))
    assert fitted.predict(convert(counts)).shape == (N,)


@every_model
def test_two_rows(model):
    fitted = clone(model).fit(X[:2], np.array([0, 1]))
    np.testing.assert_allclose(np.sign(fitted.index(X[1:2]) - fitted.index(X[:1])), 1)


@every_model
def test_one_column(model):
    fitted = clone(model).fit(X[:, :1], Y)
    assert fitted.coef_.shape == (1,)
    assert fitted.coef_[0] > 0


@every_model
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_units_of_x(model, scale):
    fitted = clone(model).fit(scale * X, Y)
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite(fitted.predict(scale * X)).all()
    if not isinstance(model, Slisotron):
        assert fitted.score(scale * X, Y) == pytest.approx(clone(model).fit(X, Y).score(X, Y))


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_units_of_y(scale):
    base, fitted = SingleIndexRegressor().fit(X, Y), SingleIndexRegressor().fit(X, scale * Y)
    np.testing.assert_allclose(fitted.predict(X) / scale, base.predict(X), atol=1e-8)


@every_model
def test_duplicated_columns_and_rows(model):
    fitted = clone(model).fit(np.tile(X, (2, 2)), np.tile(Y, 2))
    assert np.isfinite(fitted.coef_).all()
    assert fitted.score(np.tile(X, (2, 2)), np.tile(Y, 2)) > (0.8 if is_classifier(model) else 0.3)


@pytest.mark.parametrize("structure", [Sparse, "sparse", 3, object()])
def test_structure_of_wrong_kind(structure):
    with pytest.raises(ValueError, match="project, count_atoms and check"):
        SingleIndexRegressor(structure=structure).fit(X, Y)


def test_structure_whose_check_tells_nothing():
    class Silent(Sparse):
        def check(self, shape):
            return None

    with pytest.raises(ValueError, match="number of atoms"):
        SingleIndexRegressor(3, structure=Silent()).fit(X, Y)


@pytest.mark.parametrize("link", [np.log, np.sqrt, np.negative, np.abs, lambda index: 0.0])
def test_functions_that_are_no_links(link):
    with pytest.raises(ValueError, match="link function"):
        SingleIndexRegressor(link=link).fit(X, Y)


@pytest.mark.parametrize(("weights", "words"), [({0: 0, 1: 2}, "only one class"), ({0: -1, 1: 2}, "egative"),
                                               ({0: np.nan, 1: 2}, "NaN")])  # fmt: skip
def test_class_weights_are_checked_as_sample_weights_are(weights, words):
    with pytest.raises(ValueError, match=words):
        SingleIndexClassifier(class_weight=weights).fit(X, Y)


def test_probabilities_of_several_classes_are_numbers_for_every_link():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((60, 10))
    labels = np.digitize(Z @ rng.standard_normal(10), [-1, 1])
    for link in ("learned", "identity", "tanh", "logistic"):
        p = (
            SingleIndexClassifier(1, link=link)
            .fit(Z, labels)
            .predict_proba(5 * rng.standard_normal((200, 10)))
        )
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (p >= 0).all()


def test_columns_scaled_out_of_range():
    with pytest.raises(ValueError, match="scale_power"):
        SingleIndexRegressor(scale_power=500.0).fit(X * np.geomspace(1, 1e-3, X.shape[1]), Y)
