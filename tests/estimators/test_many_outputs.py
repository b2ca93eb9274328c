"""Several outputs: shared rows, labels, a shared link, units."""

import numpy as np
import pytest

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.datasets import load_atp, load_flags, make_single_index
from singleindex.structures import RowSparse


def six_tasks(seed, **kwargs):
    return make_single_index(
        200,
        500,
        structure="rows",
        n_outputs=6,
        n_atoms=10,
        link="clipped",
        random_state=seed,
        **kwargs,
    )


def recall(coef, truth):
    rows = truth.any(axis=1)
    return np.mean((coef != 0)[rows])


def test_one_output_with_shared_rows_is_sparse():
    data = make_single_index(100, 50, n_atoms=5, random_state=0)
    rows = SingleIndexClassifier(5, structure=RowSparse()).fit(data.X, data.y)
    sparse = SingleIndexClassifier(5).fit(data.X, data.y)
    np.testing.assert_array_equal(rows.coef_, sparse.coef_)


def test_shared_rows_are_found_better_than_by_separate_fits():
    joint, separate = [], []
    for seed in range(3):
        data = six_tasks(seed)
        model = SingleIndexClassifier(10, structure=RowSparse()).fit(data.X, data.y)
        assert model.coef_.shape == (500, 6)
        assert np.count_nonzero(model.coef_.any(axis=1)) == 10
        joint.append(recall(model.coef_, data.coef))
        separate.append(recall(SingleIndexClassifier(10).fit(data.X, data.y).coef_, data.coef))
    assert np.mean(joint) > np.mean(separate) + 0.1


def test_several_labels_follow_scikit_learn():
    data = six_tasks(0)
    model = SingleIndexClassifier(10, structure=RowSparse()).fit(data.X, data.y)
    p, labels, scores = (
        model.predict_proba(data.X),
        model.predict(data.X),
        model.decision_function(data.X),
    )
    assert p.shape == labels.shape == scores.shape == data.y.shape
    assert set(np.unique(labels)) == {0, 1}
    np.testing.assert_array_equal(labels == 1, p > 0.5)
    np.testing.assert_array_equal(labels == 1, scores > 0)
    for k in range(6):
        np.testing.assert_array_equal(p[:, k], model.link_[k](scores[:, k]))
    assert model.score(data.X, data.y) > 0.2


def test_a_constant_label_is_refused():
    data = six_tasks(0)
    y = data.y.copy()
    y[:, 2] = 1
    with pytest.raises(ValueError, match="label 2 is 1"):
        SingleIndexClassifier().fit(data.X, y)


def test_a_shared_link_is_one_curve_behind_offsets():
    data = six_tasks(1)
    model = SingleIndexClassifier(10, structure=RowSparse(), shared_link=True).fit(data.X, data.y)
    first = model.link_[0]
    for link in model.link_[1:]:
        np.testing.assert_allclose(link.y, first.y)
        np.testing.assert_allclose(np.diff(link.x), np.diff(first.x), atol=1e-9)
    assert recall(model.coef_, data.coef) > 0.8
    # Without a joint structure, too.
    apart = SingleIndexClassifier(10, shared_link=True).fit(data.X, data.y)
    assert (np.count_nonzero(apart.coef_, axis=0) == 10).all()


def test_a_shared_link_needs_a_learned_one():
    data = six_tasks(1)
    with pytest.raises(ValueError, match="link='learned'"):
        SingleIndexClassifier(shared_link=True, link="logistic").fit(data.X, data.y)


def test_units_of_the_outputs_do_not_matter():
    data = six_tasks(2, noise="gaussian")
    units = np.array([1.0, 10.0, 1e-3, 1e4, 7.0, 0.2])
    plain = SingleIndexRegressor(10, structure=RowSparse()).fit(data.X, data.y)
    scaled = SingleIndexRegressor(10, structure=RowSparse()).fit(data.X, data.y * units)
    np.testing.assert_allclose(scaled.coef_, plain.coef_ * units, rtol=1e-8, atol=0)
    np.testing.assert_allclose(scaled.predict(data.X), plain.predict(data.X) * units, rtol=1e-8)


def test_atp7d_through_the_public_interface(paper_data):
    data = paper_data(load_atp)
    train = np.arange(len(data.target)) < 236
    targets = data.target[:, :2]
    model = SingleIndexRegressor(20, structure=RowSparse()).fit(data.data[train], targets[train])
    assert np.count_nonzero(model.coef_.any(axis=1)) == 20
    error = np.mean((model.predict(data.data[~train]) - targets[~train]) ** 2, axis=0)
    assert (error < np.var(targets[~train], axis=0)).all()


def test_flags_through_the_public_interface(paper_data):
    from sklearn.metrics import f1_score

    train, test = paper_data(load_flags, split="train"), paper_data(load_flags, split="test")
    model = SingleIndexClassifier(15, structure=RowSparse()).fit(train.data, train.target)
    predicted = model.predict(test.data)
    majority = np.tile(np.round(train.target.mean(axis=0)), (len(test.target), 1))
    f1 = f1_score(test.target, predicted, average="micro")
    assert f1 > 0.5
    assert f1 > f1_score(test.target, majority, average="micro") - 0.05
