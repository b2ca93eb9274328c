"""Streams: one result however they are cut, saved or resumed; near that of the full solver."""

import copy
import io

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    load,
    save,
)
from singleindex.datasets import make_single_index
from singleindex.design import chunk_arrays
from singleindex.link import Link, LinkFitter, MonotoneCurve, ShiftedLink
from singleindex.persistence import ModelFileError
from singleindex.solvers import Stochastic
from singleindex.structures import GraphLowRank, GroupSparse, LowRank, RowSparse

SMALL = Stochastic(batch_size=50, refit_every=4, n_bins=64)


def make_rows(n=1030, d=12, noise="gaussian"):
    X, y, *_ = make_single_index(n, d, n_atoms=4, link="clipped", noise=noise, random_state=0)
    return X * np.linspace(0.2, 3, d), y


def through_a_file(model):
    file = io.BytesIO()
    save(model, file)
    return load(io.BytesIO(file.getvalue()))


def assert_same_bits(a, b, X):
    """Not merely near: every coefficient, every prediction and all of the state."""
    assert (a.coef_ == b.coef_).all()
    assert (a.predict(X) == b.predict(X)).all()
    assert a.n_iter_ == b.n_iter_
    assert repr(a.stream_) == repr(b.stream_)
    file_a, file_b = io.BytesIO(), io.BytesIO()
    save(a, file_a), save(b, file_b)
    assert file_a.getvalue() == file_b.getvalue()


MODELS = {
    "regression": (SingleIndexRegressor(6, solver=SMALL), lambda y, X: y, {}),
    "penalty": (SingleIndexRegressor(penalty=0.1, solver=SMALL), lambda y, X: y, {}),
    "groups": (SingleIndexRegressor(3, structure=GroupSparse(np.arange(12) // 2), solver=SMALL), lambda y, X:
    y, {}), "several outputs": (SingleIndexRegressor(solver=SMALL), lambda y, X: np.column_stack([y, X[:,
    0]]), {}), "two classes": (SingleIndexClassifier(6, solver=SMALL), lambda y, X: np.where(y > 0.5, "b",
    "a"), ["a", "b"]), "three classes": (
        SingleIndexClassifier(solver=SMALL), lambda y, X: (y > 0.3).astype(int) + (X[:, 0] > 0.1), [0, 1, 2],
    ),
    "known link": (
        SingleIndexClassifier(link="logistic", solver=SMALL), lambda y, X: (y > 0.5).astype(int), [0, 1],
    ),
}  # fmt: skip


@pytest.fixture(params=MODELS)
def problem(request):
    """Return the model, X, y, weights, and what its partial_fit is told besides."""
    model, target, classes = MODELS[request.param]
    X, y = make_rows()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    return clone(model), X, target(y, X), weight, {"classes": classes} if classes else {}


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_how_a_stream_is_cut_does_not_matter(problem, as_rows):
    model, X, y, weight, told = problem
    rows = as_rows(X)
    whole = clone(model).partial_fit(rows, y, sample_weight=weight, **told)
    for cuts in ([30, 31, 517], list(range(7, len(y), 111))):
        model = clone(model)
        for part in np.split(np.arange(len(y)), cuts):
            model.partial_fit(rows[part], y[part], sample_weight=weight[part], **told)
        assert_same_bits(model, whole, rows)


def test_a_stream_goes_on_after_saving_and_loading(problem):
    model, X, y, weight, told = problem
    unbroken = clone(model)
    for part in np.split(np.arange(len(y)), [133, 400, 760]):
        unbroken.partial_fit(X[part], y[part], sample_weight=weight[part], **told)
        model.partial_fit(X[part], y[part], sample_weight=weight[part], **told)
        model = through_a_file(model)
    assert_same_bits(model, unbroken, X)


def test_sparse_rows_that_wait_are_saved_too():
    X, y = make_rows(70)
    rows = sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0))
    unbroken = SingleIndexRegressor(solver=SMALL).partial_fit(rows, y)
    broken = SingleIndexRegressor(solver=SMALL).partial_fit(rows[:33], y[:33])
    broken = through_a_file(broken).partial_fit(rows[33:], y[33:])
    assert_same_bits(broken, unbroken, rows)
    # Dense rows may follow sparse ones.
    mixed = SingleIndexRegressor(solver=SMALL).partial_fit(rows[:33], y[:33])
    mixed.partial_fit(rows[33:].toarray(), y[33:])
    np.testing.assert_allclose(mixed.coef_, unbroken.coef_, rtol=1e-10)


def test_the_helper_tells_models_apart():
    X, y = make_rows(200)
    a, b = (SingleIndexRegressor(solver=SMALL).partial_fit(X, y) for _ in range(2))
    assert_same_bits(a, b, X)
    with pytest.raises(AssertionError):
        assert_same_bits(a, b.partial_fit(X[:1], y[:1]), X)


def test_looking_at_the_model_leaves_no_trace():
    """The rows that wait count in the model, and again, with those that follow, in the stream."""
    X, y = make_rows(130)
    model = SingleIndexRegressor(solver=SMALL).partial_fit(X, y)
    assert len(model.stream_["waiting"]["Y"]) == 30
    assert model.n_iter_ == 3
    assert model.stream_["outputs"][0]["t"] == 2


def test_a_fit_is_a_stream_in_the_order_of_the_rows():
    X, y = make_rows(noise="binary")
    settings = Stochastic(batch_size=50, random_state=None)
    fitted = SingleIndexClassifier(solver=settings).fit(X, y)
    streamed = SingleIndexClassifier(solver=settings).partial_fit(X, y, classes=[0, 1])
    assert (fitted.coef_ == streamed.coef_).all()
    more = SingleIndexClassifier(solver=settings).fit(X, y).partial_fit(X, y)
    assert more.n_iter_ > fitted.n_iter_
    # Chunks of a file are the same stream.
    chunked = SingleIndexClassifier(solver=settings).fit(chunk_arrays(X, y, chunk_rows=170))
    assert (chunked.coef_ == fitted.coef_).all()
    plain = SingleIndexClassifier().fit(X, y)
    assert not hasattr(plain, "stream_")


def test_epochs_and_order():
    X, y = make_rows()
    once = SingleIndexRegressor(solver=Stochastic(batch_size=50)).fit(X, y)
    again = SingleIndexRegressor(solver=Stochastic(batch_size=50)).fit(X, y)
    other = SingleIndexRegressor(solver=Stochastic(batch_size=50, random_state=1)).fit(X, y)
    assert (once.coef_ == again.coef_).all()
    assert (once.coef_ != other.coef_).any()
    thrice = SingleIndexRegressor(solver=Stochastic(batch_size=50, epochs=3)).fit(X, y)
    # The last rows of an epoch wait for the first of the next.
    assert thrice.n_iter_ == -(-3 * len(y) // 50)
    assert thrice.status_ == "STREAMED"


def test_weights_of_zero_are_rows_left_out():
    X, y = make_rows(400)
    weight = (np.arange(400) % 50 < 25).astype(float)
    kept = weight > 0
    a = SingleIndexRegressor(solver=Stochastic(batch_size=50, random_state=None)).fit(X, y, weight)
    b = SingleIndexRegressor(solver=Stochastic(batch_size=25, random_state=None)).fit(X[kept], y[kept])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-12)


def test_weights_count_as_repetition_within_a_batch():
    X, y = make_rows(400)
    weight = np.full(400, 2.0)
    a = SingleIndexRegressor(solver=Stochastic(batch_size=50, random_state=None)).fit(X, y, weight)
    twice = np.repeat(np.arange(400), 2)
    b = SingleIndexRegressor(solver=Stochastic(batch_size=100, random_state=None)).fit(X[twice], y[twice])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_atoms", [10, None])
def test_one_epoch_is_near_the_full_solution(n_atoms):
    X, y, *_ = make_single_index(25_000, 40, n_atoms=10, link="clipped", random_state=1)
    train, test = slice(0, 20_000), slice(20_000, None)
    full = SingleIndexClassifier(n_atoms).fit(X[train], y[train])
    one = SingleIndexClassifier(n_atoms, solver="stochastic").fit(X[train], y[train])
    full_auc, auc = (roc_auc_score(y[test], m.decision_function(X[test])) for m in (full, one))
    assert auc > full_auc - 0.005
    gap = np.abs(one.predict_proba(X[test]) - full.predict_proba(X[test])).mean()
    assert gap < 0.03


def test_a_learned_link_is_monotone_and_bounded_in_slope():
    X, y = make_rows()
    model = SingleIndexRegressor(solver=SMALL).fit(X, y)
    slopes = np.diff(model.link_.y) / np.diff(model.link_.x)
    assert (slopes >= -1e-9).all()
    assert (slopes <= 1 + 1e-9).all()


def test_one_class_or_one_row_at_a_time():
    X, y = make_rows(noise="binary")
    y = y.astype(int)
    model = SingleIndexClassifier(solver=Stochastic(batch_size=10))
    model.partial_fit(X[:1], y[:1], classes=[0, 1])
    assert model.predict(X[:3]).tolist() == [y[0]] * 3
    order = np.argsort(y, kind="stable")  # all of one class first
    for part in np.array_split(order, 40):
        model.partial_fit(X[part], y[part])
    assert np.isfinite(model.coef_).all()
    assert set(model.predict(X)) <= {0, 1}


def test_what_a_stream_refuses():
    X, y = make_rows(100, noise="binary")
    y = y.astype(int)
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        SingleIndexClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        SingleIndexClassifier().partial_fit(X, y, classes=[0])
    model = SingleIndexClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="which is not among classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="11 features"):
        model.partial_fit(X[:, :11], y)
    with pytest.raises(AttributeError, match="partial_fit"):
        SingleIndexClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="leave link_cv out"):
        SingleIndexRegressor(link_cv=3).partial_fit(X, y)
    groups = [list(range(12)), [0]]
    with pytest.raises(ValueError, match="overlapping groups"):
        SingleIndexRegressor(structure=GroupSparse(groups, overlapping=True)).partial_fit(X, y)
    with pytest.raises(ValueError, match="ties them together"):
        SingleIndexRegressor(structure=RowSparse(), solver="stochastic").fit(X, np.column_stack([y, -y]))
    with pytest.raises(ValueError, match="epochs must be an integer"):
        SingleIndexRegressor(solver=Stochastic(epochs=0)).fit(X, y)
    with pytest.raises(ValueError, match="step_size must be a positive number"):
        SingleIndexRegressor(solver=Stochastic(step_size=-1)).fit(X, y)
    outputs = SingleIndexRegressor().partial_fit(X, y)
    with pytest.raises(ValueError, match="y has 2 outputs where 1 were seen before"):
        outputs.partial_fit(X, np.column_stack([y, y]))


def test_estimators_that_search_learn_from_no_stream():
    assert not hasattr(SingleIndexRegressorCV(), "partial_fit")
    assert not hasattr(SingleIndexClassifierCV(), "partial_fit")


def test_a_failed_call_leaves_the_stream_as_it_was():
    X, y = make_rows(200)
    model = SingleIndexRegressor(solver=SMALL).partial_fit(X, y)
    before = repr(model.stream_)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.where(X > 2, np.nan, X), y)
    assert repr(model.stream_) == before


# ---------------------------------------------------------------- a stream from a file


def change_waiting(**parts):
    return lambda stream: stream["waiting"].update(parts)


def change_rows(**parts):
    """Change the sparse matrix of the rows that wait, which itself would not allow it."""
    return lambda stream: vars(stream["waiting"]["X"]).update(parts)


def as_earlier(**parts):
    """Let the sparse matrix be in its parts, as earlier versions had it."""

    def change(stream):
        X = stream["waiting"].pop("X")
        whole = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": list(X.shape)}
        stream["waiting"] |= whole | parts

    return change


def change_state(**parts):
    return lambda stream: stream["outputs"][0].update(parts)


def change_bins(exponent, first, sums):
    return change_state(step_bins=[[exponent, first], sums])


ROWS = np.zeros((3, 3))
FORGED_STREAMS = {
    "an index beyond the columns": change_rows(indices=np.full(360, 10**6, dtype=np.int32)),
    "a negative index": change_rows(indices=np.full(360, -1, dtype=np.int32)),
    "rows that lead out": change_rows(indptr=np.full(31, 10**9, dtype=np.int32)),
    "more columns": change_rows(_shape=(30, 10**12)),
    "an earlier index beyond the columns": as_earlier(indices=np.full(360, 10**6, dtype=np.int32)),
    "earlier rows that lead out": as_earlier(indptr=np.full(31, 10**9, dtype=np.int32)),
    "more earlier columns": as_earlier(shape=[30, 10**12]),
    "fewer targets": change_waiting(Y=np.zeros((3, 1))),
    "more outputs waiting": change_waiting(Y=np.zeros((30, 2))),
    "weights of another length": change_waiting(weight=np.ones(2)),
    "targets that are not finite": change_waiting(Y=np.full((30, 1), np.inf)),
    "no batch": lambda stream: stream.update(batch_size=0),
    "half a batch": lambda stream: stream.update(batch_size=2.5),
    "more outputs": lambda stream: stream["outputs"].append({}),
    "units": lambda stream: stream.update(unit=np.zeros(1)),
    "a short w": change_state(w=np.zeros(3)),
    "an average of another kind": change_state(average=np.zeros(12, dtype=np.float32)),
    "a variance that is not finite": change_state(variance=np.full(12, np.nan)),
    "steps": change_state(t=-5),
    "a total that is not finite": change_state(total=float("nan")),
    "a history of other quantities": change_state(history=np.zeros((2, 3))),
    "a curve that falls": change_state(model_link=MonotoneCurve(np.arange(2.0), -np.arange(2.0))),
    "an unknown link": change_state(step_link=ShiftedLink("os.system")),
    "no link": change_state(step_link=Stochastic()),
    "an earlier curve of unequal lengths": change_state(step_link=["curve", np.arange(3.0), np.arange(2.0)]),
    "an earlier curve that falls": change_state(model_link=["curve", np.arange(2.0), -np.arange(2.0)]),
    "an earlier unknown link": change_state(step_link=["known", "os.system", 0.0]),
    "bins of a width that never ends": change_bins(-(10**9), 0.0, ROWS),
    "a first bin between two": change_bins(0, 0.5, ROWS),
    "a first bin too far out": change_bins(0, 1e300, ROWS),
    "bins of four sums": change_bins(0, 0.0, np.zeros((3, 4))),
    "bins that are not finite": change_bins(0, 0.0, ROWS + np.nan),
    "bins without a width": change_bins(None, 0.0, ROWS),
    "no state": change_state(w=None),
}


@pytest.mark.parametrize("change", FORGED_STREAMS.values(), ids=FORGED_STREAMS)
def test_a_forged_stream_is_refused(change):
    X, y = make_rows(130)
    model = SingleIndexRegressor(solver=SMALL).partial_fit(sparse.csr_array(X), y)
    assert model.stream_["waiting"]["X"].indices.shape == (360,)
    model = copy.deepcopy(model)
    change(model.stream_)
    with pytest.raises(ModelFileError, match=r"stream|curve|bins?|link|ind|malformed"):
        through_a_file(model)


def test_a_stream_of_an_earlier_version_goes_on():
    """Links and sparse rows were lists and dicts of their parts."""
    X, y = make_rows(130)
    model = SingleIndexRegressor(solver=SMALL).partial_fit(sparse.csr_array(X), y)
    earlier = copy.deepcopy(model)
    as_earlier()(earlier.stream_)
    for name in ("step_link", "model_link"):
        curve = earlier.stream_["outputs"][0][name]
        earlier.stream_["outputs"][0][name] = ["curve", curve.x, curve.y]
    earlier = through_a_file(earlier)
    assert_same_bits(earlier, model, X)
    assert_same_bits(earlier.partial_fit(X, y), model.partial_fit(X, y), X)


class Line(Link):
    """A link of one's own."""

    def __init__(self, slope, offset):
        self.parts = slope, offset

    def __call__(self, index):
        return self.parts[0] * np.asarray(index) + self.parts[1]


class LineFitter(LinkFitter):
    def fit(self, index, y, sample_weight=None):
        centre, mean = (np.average(v, weights=sample_weight) for v in (index, y))
        spread = np.average((index - centre) ** 2, weights=sample_weight)
        slope = np.average((index - centre) * y, weights=sample_weight) / spread if spread > 0 else 0.0
        line = Line(np.clip(slope, 0, 1), mean - np.clip(slope, 0, 1) * centre)
        return line, line(index)


def test_a_stream_learns_with_a_link_of_ones_own():
    X, y = make_rows(230)
    model = SingleIndexRegressor(link=LineFitter(), solver=SMALL).partial_fit(X[:130], y[:130])
    assert model.partial_fit(X[130:], y[130:]).score(X, y) > 0.5
    with pytest.raises(ValueError, match="cannot be saved"):
        save(model, io.BytesIO())


def test_the_state_before_any_weight_is_a_state():
    X, y = make_rows(60)
    model = SingleIndexRegressor(solver=SMALL).partial_fit(X, y)
    model.stream_["outputs"][0].clear()
    through_a_file(model)


# ---------------------------------------------------------------- structures with coordinates


def make_graph_problem(n=2000, seed=0):
    """Return a structure on a chain of rows, the matrix of its map, and data of a smooth matrix."""
    rng = np.random.default_rng(seed)
    smooth = GraphLowRank((8, 5), row_graph=np.eye(8, k=1) + np.eye(8, k=-1), row_strength=6.0)
    to_w = np.column_stack([smooth.from_coordinates(column) for column in np.eye(40)])
    X = rng.normal(size=(n, 40))
    truth = np.outer(np.linspace(0.5, 1, 8), rng.normal(size=5)).ravel()
    return smooth, to_w, X, X @ truth + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("penalty", [0.0, 0.05])
@pytest.mark.parametrize("n_atoms", [1, None])
def test_a_stream_learns_in_the_coordinates_of_a_structure(penalty, n_atoms):
    smooth, to_w, X, y = make_graph_problem()
    # A learned link would jump where rounding puts a row into another bin.
    settings = {
        "n_atoms": n_atoms,
        "penalty": penalty,
        "scale_power": None,
        "solver": SMALL,
        "link": "identity",
    }
    found = SingleIndexRegressor(structure=smooth, **settings).fit(X, y)
    plain = SingleIndexRegressor(structure=LowRank((8, 5)), **settings).fit(X @ to_w, y)
    np.testing.assert_allclose(found.coef_, to_w @ plain.coef_, atol=1e-8)
    np.testing.assert_allclose(found.predict(X), plain.predict(X @ to_w), atol=1e-8)
    streamed = SingleIndexRegressor(structure=smooth, **settings)
    for part in np.array_split(np.arange(len(y)), 7):
        streamed.partial_fit(X[part], y[part])
    resumed = through_a_file(streamed)
    assert np.corrcoef(resumed.index(X), found.index(X))[0, 1] > 0.99


@pytest.mark.parametrize("shape", [(8, 5), (40, 36)])
def test_projections_are_the_same_in_every_run(shape):
    """PROPACK draws vectors at random where it starts from the answer, as the next projection does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, shape[0] * shape[1]))
    y = X @ np.outer(rng.normal(size=shape[0]), rng.normal(size=shape[1])).ravel()
    model = SingleIndexRegressor(1, structure=LowRank(shape), solver=SMALL)
    first, *others = (clone(model).fit(X, y).coef_ for _ in range(8))
    for coef in others:
        np.testing.assert_array_equal(coef, first)


def test_a_structure_whose_map_cannot_be_inverted_is_refused():
    class OneWay(GraphLowRank):
        streams = False

    smooth, _, X, y = make_graph_problem(200)
    one_way = OneWay(smooth.shape, smooth.row_graph, smooth.col_graph)
    with pytest.raises(ValueError, match="not told by w, cannot be learned from a stream"):
        SingleIndexRegressor(structure=one_way, solver="stochastic").fit(X, y)
