"""Generated ratings: what is said of the truth holds."""

import numpy as np
import pytest

from singleindex.datasets import LINKS, make_completion


@pytest.mark.parametrize("n_atoms", [0, 1, 4])
@pytest.mark.parametrize("noise", ["pm1", "binary", "gaussian", "grades"])
def test_the_index_is_made_of_its_parts(n_atoms, noise):
    data = make_completion(80, 50, 900, n_atoms=n_atoms, noise=noise, random_state=0)
    i, j = data.pairs.T
    whole = data.row_effects[:, None] + data.col_effects + data.row_factors @ data.col_factors.T
    np.testing.assert_allclose(data.index, whole[i, j])
    np.testing.assert_array_equal(data.mean, data.link(data.index))
    assert data.row_factors.shape == (80, n_atoms)
    assert whole.std() == pytest.approx(2.0, rel=0.25)


def test_pairs_are_distinct_and_of_the_matrix():
    for n_ratings in (10, 1500, 2000):
        data = make_completion(50, 40, n_ratings, random_state=1)
        assert data.pairs.shape == (n_ratings, 2)
        assert len(np.unique(data.pairs, axis=0)) == n_ratings
        assert (data.pairs >= 0).all()
        assert (data.pairs < data.shape).all()


def test_graphs_are_symmetric_and_link_what_is_alike():
    data = make_completion(300, 200, 10, smoothness=0.9, random_state=0)
    for graph, traits in ((data.row_graph, data.row_effects), (data.col_graph, data.col_effects)):
        assert (graph != graph.T).nnz == 0
        assert not graph.diagonal().any()
        assert (graph.data == 1).all()
        assert 6 < graph.nnz / graph.shape[0] <= 10
        a, b = graph.nonzero()
        assert np.corrcoef(traits[a], traits[b])[0, 1] > 0.6


def test_means_are_those_of_y():
    data = make_completion(300, 200, 40000, noise="pm1", random_state=0)
    assert set(data.y) == {-1, 1}
    for low in (-0.8, -0.2, 0.4):
        near = np.abs(data.mean - low) < 0.1
        assert data.y[near].mean() == pytest.approx(data.mean[near].mean(), abs=0.08)
    grades = make_completion(300, 200, 40000, noise="grades", random_state=0)
    assert set(grades.y) == {1, 2, 3, 4, 5}
    middle = np.abs(grades.mean - 3) < 0.2
    assert grades.y[middle].mean() == pytest.approx(3, abs=0.05)


def test_a_seed_gives_the_same_data_and_another_one_other():
    a, b, c = (make_completion(random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a.y, b.y)
    np.testing.assert_array_equal(a.pairs, b.pairs)
    assert (a.pairs != c.pairs).any()


def test_one_row_or_column_is_enough():
    assert make_completion(1, 30, 20, random_state=0).y.shape == (20,)
    assert make_completion(30, 1, 20, random_state=0).y.shape == (20,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_rows": 0}, "n_rows must be an integer"),
        ({"n_ratings": 60001}, "at most n_rows"),
        ({"n_atoms": -1}, "n_atoms must be"),
        ({"effects": 1.5}, "effects is a share"),
        ({"smoothness": -0.1}, "smoothness is a share"),
        ({"link": "linear"}, "is not known"),
        ({"noise": "stars"}, "is not known"),
        ({"link": "identity", "noise": "grades"}, "means outside"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        make_completion(**settings)


def test_every_bounded_link_can_be_used():
    for name, link in LINKS.items():
        if np.isfinite(link.lower):
            assert np.isfinite(make_completion(20, 20, 50, link=name, random_state=0).mean).all()
