"""The example of a service, run by uvicorn: right under load, and clear about requests it refuses."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from singleindex.cli.app import run
from singleindex.inspection import explain
from singleindex.persistence import load_table

pytest.importorskip("uvicorn")
EXAMPLES = Path(__file__).parent.parent / "examples"


def patients(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.integers(20, 90, n).astype(float), "dose": rng.gamma(2, 2, n).round(3),
        "city": rng.choice(["Köln", "Rom", "Bonn"], n),
    })  # fmt: skip
    index = frame["dose"] - 0.05 * frame["age"] + (frame["city"] == "Rom")
    frame.loc[::9, "dose"] = None
    return frame, np.where(index + rng.standard_normal(n) > 1, "ja", "nein")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A port that a service listens at, and the model it serves."""
    folder = tmp_path_factory.mktemp("service")
    frame, y = patients(150, 0)
    frame.assign(y=y).to_csv(folder / "t.csv", index=False)
    fit = ["fit", str(folder / "t.csv"), "-t", "y", "-o", str(folder / "m.sim"), "--impute", "median"]
    assert run([*fit, "--n-atoms", "3", "--folds", "3", "-q"]) == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "--app-dir",
        str(EXAMPLES),
        "service:app",
        "--lifespan",
        "off",
    ]
    server = subprocess.Popen(
        [*command, "--port", str(port), "--log-level", "warning"],
        env={**os.environ, "MODEL": str(folder / "m.sim")},
    )
    try:
        wait_for(port, server)
        yield port, load_table(folder / "m.sim")
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port, server):
    for _ in range(600):
        assert server.poll() is None, "the service has ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the service does not listen")


def ask(port, path, body, method="POST"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body if isinstance(body, (str, bytes)) else json.dumps(body))
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def as_rows(frame):
    return json.loads(frame.to_json(orient="records"))


def test_predictions_under_load(served):
    port, model = served
    frame, _ = patients(200, 1)
    frame.loc[3, "city"] = "Ürümqi"
    parts = [frame.iloc[k : k + 4] for k in range(0, 200, 4)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda part: ask(port, "/predict", as_rows(part)), parts))
    assert {status for status, _ in answers} == {200}
    found = np.concatenate([answer["probability"] for _, answer in answers])
    np.testing.assert_allclose(found, model.predict_proba(frame), atol=1e-9)
    assert [one for _, answer in answers for one in answer["prediction"]] == model.predict(frame).tolist()


def test_explanations(served):
    port, model = served
    frame, _ = patients(5, 2)
    status, answer = ask(port, "/explain", as_rows(frame))
    assert status == 200
    told = explain(model, frame)
    sums = [answer["base"] + sum(row.values()) for row in answer["contributions"]]
    np.testing.assert_allclose(sums, told.index, atol=1e-9)
    np.testing.assert_allclose(answer["prediction"], told.prediction, atol=1e-9)


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/predict", "[{", 400, "no JSON"),
        ("/predict", b"\xff\xfe", 400, "no JSON"),
        ("/predict", "[" * 100_000, 400, "no JSON"),
        ("/predict", {"age": 3}, 422, "list of rows"),
        ("/predict", [], 422, "list of rows"),
        ("/predict", [[1, 2]], 422, "list of rows"),
        ("/predict", [{"age": [1]}], 422, "number, text"),
        ("/predict", [{"city": "Rom"}], 422, "columns that the model needs are not there"),
        ("/predict", [{"age": "old", "dose": 1, "city": "Rom"}], 422, "'age' must hold numbers"),
        ("/explain", '[{"age": Infinity, "dose": 1, "city": "Rom"}]', 422, "infinite"),
        ("/predict", [{"age": 10**400, "dose": 1, "city": "Rom"}], 422, "beyond 1e308"),
        ("/predict", [{"age": 1}] * 1001, 413, "1000 at most"),
        ("/predict", "x" * 1_000_001, 413, "larger than 1000000 bytes"),
        ("/nowhere", [], 404, "/predict, /explain"),
    ],
)
def test_bad_requests_are_told_what_to_mend(served, path, body, status, says):
    found, answer = ask(served[0], path, body)
    assert found == status
    assert says in answer["error"]


def test_other_methods_are_refused(served):
    assert ask(served[0], "/predict", "", method="GET")[0] == 405
