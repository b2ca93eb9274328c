"""The stable features of a model, as the terminal and the report tell of them."""

import copy
import re

import numpy as np
import pandas as pd
import pytest

from singleindex import SingleIndexClassifierCV, SingleIndexRegressor
from singleindex.datasets import make_single_index
from singleindex.inspection import make_report
from singleindex.inspection import stable as module
from singleindex.inspection.stable import find_stable
from singleindex.structures import LowRank


@pytest.fixture(scope="module")
def fitted():
    made = make_single_index(300, 12, n_atoms=3, link="clipped", random_state=0)
    return made, SingleIndexClassifierCV(cv=3, alpha=[0.1]).fit(made.X, made.y)


def test_those_that_matter_are_found(fitted):
    made, model = fitted
    found = find_stable(model, made.X, made.y)
    assert sorted(found.features) == made.support.tolist()
    assert 0 < found.bound <= 1


def test_only_features_in_use_are_told_of(fitted):
    made, model = fitted
    fewer = copy.copy(model)
    fewer.coef_ = np.where(np.arange(12) == made.support[0], 0.0, model.coef_)
    assert sorted(find_stable(fewer, made.X, made.y).features) == made.support[1:].tolist()


def test_none_where_features_are_not_what_is_chosen():
    made = make_single_index(100, 12, n_atoms=3, noise="gaussian", random_state=0)
    model = SingleIndexRegressor(1, structure=LowRank((3, 4))).fit(made.X, made.y)
    assert find_stable(model, made.X, made.y) is None


def test_of_many_rows_some_are_asked(fitted, monkeypatch):
    made, model = fitted
    monkeypatch.setattr(module, "_MOST_ROWS", 200)
    weight = np.ones(300)
    asked = find_stable(model, pd.DataFrame(made.X), pd.Series(made.y), weight)
    assert set(asked.features) <= set(made.support)
    assert asked.features


def test_the_report_marks_them(fitted):
    made, model = fitted
    page = make_report(model, made.X, made.y, target_name="relapse", n_folds=2)
    assert re.search(r"in use to predict relapse; 3 are stable: (x\d+(, )?){3}\.", page)
    marked = re.findall(r'<th scope="row" title="(x\d+)">(?:(?!</tr>).)*?<td>yes</td>', page)
    assert sorted(marked) == sorted(f"x{j}" for j in made.support)
    assert "one at most is expected to be there by chance" in page
