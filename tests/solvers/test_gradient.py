"""The paper's step, driven: equivariances, known special cases, stopping, recovery."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from singleindex.datasets import make_single_index
from singleindex.design import Scaling, View, as_design, column_factors
from singleindex.link import FixedLink, Lpav, Pav
from singleindex.solvers import Gradient, Iterate, Simplicity, Status, drive
from singleindex.structures import Sparse

HISTORY = {"objective", "mse", "n_atoms", "step_size", "change"}


def make_data(n=120, d=30, link="ramp", noise="gaussian", seed=0, **options):
    X, y, w, _ = make_single_index(n, d, n_atoms=4, link=link, noise=noise, random_state=seed, **options)
    return X, y.astype(float), w


def solve_design(
    design, y, fitter, n_atoms=None, alpha=0.0, max_iter=50, tol=1e-3, on_iteration=None, **options
):
    simplicity = Simplicity(Sparse(), fitter.slope, n_atoms, alpha)
    method = Gradient(design, y, simplicity, fitter, **options)
    return drive(method, max_iter=max_iter, tol=tol, on_iteration=on_iteration)


def solve(X, y, link_fitter=None, n_atoms=6, **options):
    options = {"alpha": 0.05, "tol": 1e-4, **options}
    return solve_design(as_design(X), y, link_fitter or Lpav(1.0), n_atoms=n_atoms, **options)


def solve_scaled(X, y, power, **options):
    """Solve with scaled columns; return the result with its coefficients in the units of X."""
    design = as_design(X)
    _, variance = design.column_moments(np.full(len(y), 1 / len(y)))
    view = View(design, Scaling(column_factors(variance, power)))
    result = solve_design(view, y, Lpav(1.0), **options)
    return with_coef(result, view.to_features(result.best.coef))


def with_coef(result, coef):
    return dataclasses.replace(result, best=dataclasses.replace(result.best, coef=coef))


def collect(iterates):
    """Return a callback that keeps every iterate in a list."""
    return lambda iterate: iterates.append(iterate)


def cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def assert_same_solution(a, b, scale=1.0, rtol=1e-8):
    """Assert that b's coefficients are `scale` times a's, and that both took the same path."""
    expected = scale * a.best.coef
    np.testing.assert_allclose(b.best.coef, expected, rtol=0, atol=rtol * np.abs(expected).max())
    assert (a.n_iter, a.best.n_iter, a.status) == (b.n_iter, b.best.n_iter, b.status)


def test_assert_same_solution_fails_on_wrong_answers():
    X, y, _ = make_data()
    result = solve(X, y)
    assert_same_solution(result, result)
    wrong = [
        with_coef(result, result.best.coef * (1 + 1e-6)),
        with_coef(result, -result.best.coef),
        dataclasses.replace(result, n_iter=result.n_iter + 1),
        dataclasses.replace(result, status=Status.STOPPED),
    ]
    for other in wrong:
        with pytest.raises(AssertionError):
            assert_same_solution(result, other)


# ---------------------------------------------------------------- equivariances


@pytest.mark.parametrize("fitter", [Lpav(1.0), Lpav(5.0), Pav(), FixedLink("identity")], ids=repr)
@pytest.mark.parametrize("factor", [1e-6, 0.3, 1e6, -1.0, -17.0])
@pytest.mark.parametrize("n_atoms", [None, 5])
def test_units_of_y_are_units_of_w(fitter, factor, n_atoms):
    X, y, _ = make_data()
    assert_same_solution(solve(X, y, fitter, n_atoms), solve(X, factor * y, fitter, n_atoms), scale=factor)


@pytest.mark.parametrize("shift", [-100.0, 3.0])
def test_level_of_y_does_not_matter(shift):
    X, y, _ = make_data()
    assert_same_solution(solve(X, y), solve(X, y + shift), rtol=1e-8)


@pytest.mark.parametrize("shift", [-50.0, 7.0])
def test_level_of_the_columns_does_not_matter(shift):
    """Residuals that sum to zero centre X without touching it."""
    X, y, _ = make_data()
    assert_same_solution(solve(X, y), solve(X + shift, y), rtol=1e-7)


@pytest.mark.parametrize("factor", [1e-3, 10.0])
def test_ridge_follows_the_unit_of_x(factor):
    """X in other units, w and alpha in theirs: the same index."""
    X, y, _ = make_data()
    base, other = solve(X, y, alpha=0.05), solve(factor * X, y, alpha=0.05 * factor**2)
    assert_same_solution(base, other, scale=1 / factor)
    np.testing.assert_allclose(
        other.best.index, base.best.index, rtol=0, atol=1e-8 * np.abs(base.best.index).max()
    )


@pytest.mark.parametrize("n_atoms", [None, 5])
def test_full_scaling_makes_units_of_columns_irrelevant(n_atoms):
    X, y, _ = make_data()
    units = 10 ** np.random.default_rng(0).uniform(-4, 4, X.shape[1])
    options = {"power": 1.0, "n_atoms": n_atoms, "alpha": 0.05, "tol": 1e-4}
    base, other = solve_scaled(X, y, **options), solve_scaled(X * units, y, **options)
    at = np.linspace(base.best.index.min() - 1, base.best.index.max() + 1, 50)
    np.testing.assert_allclose(other.best.link(at), base.best.link(at), rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.best.index, base.best.index, rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.best.coef * units, base.best.coef, rtol=0, atol=1e-8)


@pytest.mark.parametrize("fitter", [Lpav(1.0), Pav(), FixedLink("logistic")], ids=repr)
def test_weights_are_repetitions(fitter):
    X, y, _ = make_data(noise="binary", link="logistic")
    count = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = solve(X, y, fitter, sample_weight=count.astype(float))
    repeated = solve(np.repeat(X, count, axis=0), np.repeat(y, count), fitter)
    assert_same_solution(weighted, repeated, rtol=1e-7)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_unit_of_the_weights_does_not_matter(factor):
    X, y, _ = make_data()
    weight = np.random.default_rng(1).random(len(y))
    assert_same_solution(solve(X, y, sample_weight=weight), solve(X, y, sample_weight=factor * weight))


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_array, np.asfortranarray])
@pytest.mark.parametrize("n_atoms", [None, 2, 6])
def test_storage_does_not_matter(convert, n_atoms):
    X, y, _ = make_data(150, 40, design="counts", density=0.2, seed=3)
    X = X.toarray()
    assert_same_solution(solve(X, y, n_atoms=n_atoms), solve(convert(X), y, n_atoms=n_atoms))


def test_order_of_rows_and_columns_does_not_matter():
    X, y, _ = make_data()
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    base, other = solve(X, y), solve(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(other.best.coef, base.best.coef[columns], rtol=0, atol=1e-8)


def test_nothing_is_changed():
    X, y, _ = make_data()
    weight, start = np.random.default_rng(0).random(len(y)), np.random.default_rng(1).normal(size=30)
    before = [v.copy() for v in (X, y, weight, start)]
    for v in (X, y, weight, start):
        v.flags.writeable = False
    iterates = []
    solve(X, y, sample_weight=weight, start=start, on_iteration=collect(iterates))
    for v, old in zip((X, y, weight, start), before, strict=True):
        assert (v == old).all()
    assert len({id(i.coef) for i in iterates}) == len(iterates)


def test_reruns_agree_bit_for_bit():
    X, y, _ = make_data()
    assert solve(X, y).best.coef.tobytes() == solve(X, y).best.coef.tobytes()


# ---------------------------------------------------------------- known special cases

TO_THE_END = {"n_atoms": None, "tol": 1e-13, "max_iter": 5000}


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_identity_link_is_ridge_regression(alpha, weighted):
    X, y, _ = make_data(300, 8)
    X = X + 1
    weight = np.random.default_rng(0).random(300) if weighted else np.ones(300)
    share = weight / weight.sum()
    centred, target = X - share @ X, y - share @ y
    ridge = np.linalg.solve((centred.T * share) @ centred + alpha * np.eye(8), (centred.T * share) @ target)
    result = solve(X, y, FixedLink("identity"), alpha=alpha, sample_weight=weight, **TO_THE_END)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.best.coef, ridge, atol=1e-7)
    assert cosine(result.best.coef, ridge) > 1 - 1e-12
    assert result.best.link.offset == pytest.approx(share @ y - share @ X @ ridge, abs=1e-6)


def logistic_regression(X, y, alpha, weight=None):
    C = np.inf if alpha == 0 else 1 / (alpha * (len(y) if weight is None else weight.sum()))
    return LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.1, 1.0])
def test_logistic_link_is_logistic_regression(alpha):
    X, y, _ = make_data(300, 8, link="logistic", noise="binary")
    model = logistic_regression(X, y, alpha)
    result = solve(X, y, FixedLink("logistic"), alpha=alpha, **TO_THE_END)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.best.coef, model.coef_[0], atol=1e-5)
    assert result.best.link.offset == pytest.approx(model.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.1, 1.0])
def test_iterates_with_a_logistic_link_go_to_logistic_regression(alpha):
    X, y, _ = make_data(300, 8, link="logistic", noise="binary")
    weight = np.random.default_rng(0).random(300)
    iterates = []
    solve(X, y, FixedLink("logistic"), alpha=alpha, sample_weight=weight, **TO_THE_END,
          on_iteration=collect(iterates))  # fmt: skip
    model = logistic_regression(X, y, alpha, weight)
    np.testing.assert_allclose(iterates[-1].coef, model.coef_[0], atol=1e-5)
    assert iterates[-1].link.offset == pytest.approx(model.intercept_[0], abs=1e-5)


def test_one_column_is_isotonic_regression():
    """There is no direction to learn: the fit is the Lipschitz isotonic regression on that column."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = -np.tanh(x) + 0.1 * rng.normal(size=80)
    result = solve(x[:, None], y, Pav(), n_atoms=None, alpha=0.0)
    _, fitted = Pav().fit(-x, y)
    np.testing.assert_allclose(result.best.link(result.best.index), fitted, atol=1e-12)
    assert result.best.coef[0] < 0


# ---------------------------------------------------------------- what is returned, and why it ended


@pytest.mark.parametrize("fitter", [Lpav(1.0), FixedLink("logistic")], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_which_iterate_is_returned(fitter, seed):
    """For a learned link the one of least objective; for a known one, whose steps descend, the last."""
    X, y, _ = make_data(60, 40, noise="binary", link="logistic", seed=seed)
    iterates = []
    result = solve(X, y, fitter, max_iter=30, tol=0, on_iteration=collect(iterates))
    assert all(isinstance(i, Iterate) for i in iterates)
    assert [i.n_iter for i in iterates] == list(range(result.n_iter))
    objective = result.history["objective"]
    expected = np.argmin(objective) if fitter.is_learned else len(objective) - 1
    assert result.best.n_iter == expected
    best = iterates[result.best.n_iter]
    assert (result.best.coef == best.coef).all()
    assert (result.best.index == best.index).all()
    np.testing.assert_allclose(result.best.index, X @ result.best.coef, atol=1e-12)
    assert objective[result.best.n_iter] == best.objective


def test_history_tells_every_iteration():
    X, y, _ = make_data()
    iterates = []
    result = solve(X, y, alpha=0.2, max_iter=7, tol=0, on_iteration=collect(iterates))
    assert set(result.history) == HISTORY
    assert {len(v) for v in result.history.values()} == {7} == {result.n_iter}
    for name in HISTORY:
        assert result.history[name].tolist() == [getattr(i, name) for i in iterates]
    for i in iterates:
        fitted = i.link(X @ i.coef)
        assert i.mse == pytest.approx(np.mean((fitted - y) ** 2))
        assert i.objective == pytest.approx(0.5 * (i.mse + 0.2 * i.coef @ i.coef))
        assert i.n_atoms == np.count_nonzero(i.coef)
    assert result.history["change"][0] == np.inf
    assert (result.history["step_size"] > 0).all()


def test_result_is_frozen():
    X, y, _ = make_data()
    result = solve(X, y)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.best.coef = None


def test_converged():
    X, y, _ = make_data()
    result = solve(X, y, tol=1e-3, max_iter=1000)
    assert result.status is Status.CONVERGED
    assert result.n_iter < 1000
    assert result.history["change"][-1] <= 1e-3
    assert (result.history["change"][:-1] > 1e-3).all()


@pytest.mark.parametrize("penalty", [0.1, 0.3])
def test_a_penalised_fit_ends_when_its_objective_has_settled(penalty):
    X, y, _ = make_data(n=200, d=300, noise="binary", link="clipped")
    loose, tight = (
        solve(X, y, n_atoms=None, penalty=penalty, tol=tol, max_iter=1000) for tol in (1e-2, 1e-5)
    )
    old, new = loose.history["objective"][-2:]
    assert loose.status is Status.CONVERGED
    assert loose.history["change"][-1] <= 1e-2 or abs(old - new) <= 1e-4 * old
    assert loose.n_iter < tight.n_iter
    assert loose.history["objective"].min() < 1.001 * tight.history["objective"].min()
    # Without tol nothing ends it.
    assert solve(X, y, n_atoms=None, penalty=penalty, tol=0.0, max_iter=60).n_iter == 60


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_max_iter(max_iter):
    X, y, _ = make_data()
    result = solve(X, y, tol=0, max_iter=max_iter)
    assert result.status is Status.MAX_ITER
    assert result.n_iter == max_iter


def test_flat():
    """No direction is correlated with y: w stays zero and the link is the mean."""
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    result = solve(X, y, n_atoms=None)
    assert result.status is Status.FLAT
    assert not result.best.coef.any()
    assert result.best.link(0.0) == 0
    assert {len(v) for v in result.history.values()} == {result.n_iter} == {1}


@pytest.mark.parametrize("stop_at", [0, 3])
def test_stopped(stop_at):
    X, y, _ = make_data()
    seen = []

    def stop(iterate):
        seen.append(iterate.n_iter)
        return iterate.n_iter == stop_at

    result = solve(X, y, tol=0, on_iteration=stop)
    assert result.status is Status.STOPPED
    assert seen == list(range(stop_at + 1))
    assert result.n_iter == stop_at + 1


def test_every_status_says_why():
    assert {"CONVERGED", "MAX_ITER", "FLAT", "STOPPED"} <= {s.name for s in Status}
    assert all(len(s.value) > 10 for s in Status)


def test_interrupt_passes_through():
    X, y, _ = make_data()

    def interrupt(iterate):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(X, y, on_iteration=interrupt)


# ---------------------------------------------------------------- starting elsewhere


@pytest.mark.parametrize("fitter", [Lpav(1.0), FixedLink("identity"), FixedLink("logistic")], ids=repr)
@pytest.mark.parametrize("n_atoms", [None, 4])
def test_warm_start_from_the_solution_converges_at_once(fitter, n_atoms):
    X, y, _ = make_data(400, 20, link="logistic", noise="binary")
    iterates = []
    solve(X, y, fitter, n_atoms, tol=1e-9, max_iter=2000, on_iteration=collect(iterates))
    again = solve(X, y, fitter, n_atoms, tol=1e-3, start=iterates[-1].coef)
    assert again.status is Status.CONVERGED
    assert again.n_iter <= 2
    assert cosine(again.best.coef, iterates[-1].coef) > 1 - 1e-6


def test_start_is_the_first_iterate():
    X, y, _ = make_data()
    start = np.zeros(30)
    start[[3, 5]] = 1.0, -2.0
    iterates = []
    solve(X, y, start=start, max_iter=3, on_iteration=collect(iterates))
    assert (iterates[0].coef == start).all()


def test_default_start_is_scaled_to_y():
    """The least-squares slope of y on the first index is the link's largest slope."""
    X, y, _ = make_data()
    for fitter in (Lpav(1.0), Lpav(4.0)):
        iterates = []
        solve(X, y, fitter, max_iter=1, on_iteration=collect(iterates))
        index = iterates[0].index
        assert np.polyfit(index, y, 1)[0] == pytest.approx(fitter.slope)


def test_fixed_step_size_is_used():
    X, y, _ = make_data()
    iterates = []
    result = solve(X, y, n_atoms=None, alpha=0.3, step_size=0.01, tol=0, max_iter=4,
                   on_iteration=collect(iterates))  # fmt: skip
    assert (result.history["step_size"] == 0.01).all()
    w, after = iterates[0].coef, iterates[1].coef
    gradient = X.T @ (iterates[0].link(X @ w) - y) / len(y) + 0.3 * w
    np.testing.assert_allclose(after, w - 0.01 * gradient, atol=1e-12)


# ---------------------------------------------------------------- recovery


@pytest.mark.parametrize("n_atoms", [1, 3, 10, 40])
@pytest.mark.parametrize("seed", range(3))
def test_never_more_atoms_than_asked_for(n_atoms, seed):
    X, y, _ = make_data(50, 40, noise="binary", link="logistic", seed=seed)
    result = solve(X, y, n_atoms=n_atoms, tol=0, max_iter=20)
    assert np.count_nonzero(result.best.coef) <= n_atoms
    assert (result.history["n_atoms"] <= n_atoms).all()


EASY = ["logistic", "probit", "clipped", "ramp", "steps", "cubic", "relu", "tanh", "cloglog"]


@pytest.mark.parametrize("link", EASY)
def test_support_and_direction_are_found_in_easy_data(link):
    data = make_single_index(
        600, 200, n_atoms=5, link=link, noise="gaussian", noise_level=0.05, random_state=1
    )
    result = solve(data.X, data.y, n_atoms=5, alpha=0.0, max_iter=100)
    assert set(np.flatnonzero(result.best.coef)) == set(data.support)
    assert cosine(result.best.coef, data.coef) > 0.95


@pytest.mark.parametrize("link", ["logistic", "ramp", "steps"])
def test_direction_is_found_from_labels(link):
    data = make_single_index(2000, 50, n_atoms=5, link=link, noise="binary", random_state=2)
    result = solve(data.X, data.y.astype(float), n_atoms=5, alpha=0.0)
    assert cosine(result.best.coef, data.coef) > 0.95


def test_sparse_counts_at_more_columns_than_rows():
    data = make_single_index(400, 1000, n_atoms=4, design="counts", density=0.2, link="ramp",
                             noise="gaussian", noise_level=0.02, random_state=4)  # fmt: skip
    result = solve_scaled(data.X, data.y, 0.5, n_atoms=4, alpha=0.0)
    assert cosine(result.best.coef, data.coef) > 0.95
