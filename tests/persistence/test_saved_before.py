"""Model files of format 1 as they were first written: each must load, and predict what it did.

The files in `saved/` are never written anew. Their notes hold rows and the predictions of the day.
"""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from singleindex import load, save
from singleindex.persistence import load_notes

FILES = sorted((Path(__file__).parent / "saved").glob("*.sim.gz"))


def test_every_kind_is_there():
    kinds = "classifier completer isotonic multi_output regressor_cv slisotron stream"
    assert [path.name.removesuffix(".sim.gz") for path in FILES] == kinds.split()
    assert all(path.stat().st_size < 10_000 for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_old_file_predicts_as_on_the_day(path):
    data = gzip.decompress(path.read_bytes())
    model, notes = load(io.BytesIO(data)), load_notes(io.BytesIO(data))
    predicted = model.predict(notes["rows"])
    if predicted.dtype.kind == "U":
        assert (predicted == notes["predicted"]).all()
    else:
        np.testing.assert_allclose(predicted, notes["predicted"], rtol=1e-12, atol=1e-14)
    again = io.BytesIO()
    save(model, again)
    assert repr(load(io.BytesIO(again.getvalue()))) == repr(model)


def test_an_old_stream_goes_on():
    [path] = [path for path in FILES if path.name.startswith("stream")]
    data = gzip.decompress(path.read_bytes())
    model, rows = load(io.BytesIO(data)), load_notes(io.BytesIO(data))["rows"]
    seen = model.stream_["outputs"][0]["t"]
    model.partial_fit(rows, rows[:, 0])
    assert model.stream_["outputs"][0]["t"] > seen
