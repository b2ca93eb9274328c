"""What a fit tells on its way, and what is left where it is broken off."""

import pytest
from single_index_models import cosine, fitted_state, make_classes, make_regression
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.structures import Sparse

try:
    from sklearn.callback import ProgressBar
except ImportError:
    ProgressBar = None

needs_callbacks = pytest.mark.skipif(
    ProgressBar is None, reason="scikit-learn has callbacks from version 1.9 on"
)

# ---------------------------------------------------------------- progress


def test_verbose_prints_a_line_per_iteration(capsys):
    data = make_regression()
    quiet = SingleIndexRegressor().fit(data.X, data.y)
    assert capsys.readouterr() == ("", "")
    model = SingleIndexRegressor(verbose=1).fit(data.X, data.y)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == model.n_iter_ == quiet.n_iter_
    assert lines[0].startswith("[SingleIndexRegressor] iteration 1/100  mse ")
    assert "atoms 12" in lines[0]
    X, y, _ = make_classes(n_classes=3)
    SingleIndexClassifier(verbose=1, max_iter=2).fit(X, y)
    assert "output 3/3" in capsys.readouterr().err


class Recorder:
    """Follows scikit-learn's FitCallback; may stop, or break, at an iteration."""

    def __init__(self, stop_at=None, interrupt_at=None):
        self.stop_at, self.interrupt_at = stop_at, interrupt_at
        self.begun, self.ended, self.coefs = [], [], []
        self.set_up, self.torn_down = 0, 0

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.ended.append(context.task_name)
        count = self.ended.count("iteration")
        if fitted_estimator is not None and context.task_name == "iteration":
            assert fitted_estimator.predict(X).shape == y.shape[:1]
            self.coefs.append(fitted_estimator.coef_)
        if count == self.interrupt_at:
            raise KeyboardInterrupt
        return count == self.stop_at


@needs_callbacks
@pytest.mark.parametrize(
    "model", [SingleIndexRegressor(), SingleIndexClassifier(), Slisotron(max_iter=9)], ids=repr
)
def test_callbacks_see_every_iteration(model):
    X, y, _ = make_classes()
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder).fit(X, y)
    assert (recorder.set_up, recorder.torn_down) == (1, 1)
    assert recorder.ended.count("iteration") == model.n_iter_
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert len(recorder.coefs) == model.n_iter_
    assert cosine(recorder.coefs[model.best_iter_], model.coef_) == pytest.approx(1)
    silent = clone(model).fit(X, y)
    assert (silent.coef_ == model.coef_).all()


@needs_callbacks
def test_callbacks_with_several_classes():
    X, y, _ = make_classes(n_classes=3)
    recorder = Recorder()
    SingleIndexClassifier(max_iter=3, tol=0).set_callbacks(recorder).fit(X, y)
    assert recorder.ended.count("iteration") == 9


@needs_callbacks
@pytest.mark.parametrize(
    "model", [SingleIndexRegressor(tol=0), SingleIndexClassifier(tol=0), Slisotron()], ids=repr
)
def test_a_callback_stops_the_fit(model):
    X, y, _ = make_classes()
    model = clone(model).set_callbacks(Recorder(stop_at=3)).fit(X, y)
    assert model.n_iter_ == 3
    assert model.status_ == "STOPPED"
    assert model.predict(X).shape == y.shape


@needs_callbacks
def test_progress_bar_runs(capsys):
    pytest.importorskip("rich", reason="scikit-learn's progress bar needs rich")
    X, y, _ = make_classes()
    SingleIndexClassifier().set_callbacks(ProgressBar()).fit(X, y)


# ---------------------------------------------------------------- interrupts


class InterruptingStructure(Sparse):
    """Sparse, until the third projection."""

    def project(self, w, n_atoms):
        count = self.__dict__.get("count", 0) + 1
        object.__setattr__(self, "count", count)
        if count >= 3:
            raise KeyboardInterrupt
        return super().project(w, n_atoms)


@pytest.mark.parametrize("kind", [SingleIndexRegressor, SingleIndexClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_interrupt_leaves_an_unfitted_model_unfitted(kind, n_classes):
    X, y, _ = make_classes(n_classes=n_classes)
    model = kind(structure=InterruptingStructure())
    before = set(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert set(vars(model)) == before
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("kind", [SingleIndexRegressor, SingleIndexClassifier])
def test_an_interrupt_leaves_a_fitted_model_as_it_was(kind):
    X, y, _ = make_classes()
    model = kind().fit(X, y)
    before, predictions = fitted_state(model), model.predict(X)
    model.set_params(structure=InterruptingStructure())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], 1 - y)
    assert fitted_state(model) == before
    assert (model.predict(X) == predictions).all()
    model.set_params(structure=None).fit(X[:, :5], 1 - y)
    assert model.n_features_in_ == 5


@needs_callbacks
@pytest.mark.parametrize("kind", [SingleIndexRegressor, SingleIndexClassifier, Slisotron])
@pytest.mark.parametrize("fitted", [False, True])
def test_an_interrupt_from_a_callback(kind, fitted):
    X, y, _ = make_classes()
    model = kind(tol=0)
    if fitted:
        model.fit(X, y)
    before = fitted_state(model)
    recorder = Recorder(interrupt_at=2)
    model.set_callbacks(recorder)
    attributes = set(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], 1 - y)
    assert fitted_state(model) == before
    assert set(vars(model)) == attributes
    assert recorder.torn_down == 1
    model.set_callbacks().fit(X, y)
    assert model.predict(X).shape == y.shape
