"""The example of a service around our models, beside the same one around a scikit-learn pipeline.

`python -m benchmarks.service` starts each with uvicorn, one process and one thread of BLAS, and asks all in
turns over connections that stay open; it writes results/service.json and results/service.md.
"""

from __future__ import annotations

import argparse
import http.client
import importlib.util
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import singleindex
from singleindex import SingleIndexClassifierCV, TableClassifier

from .pages import as_table, fill
from .provenance import source_commit

RESULTS = Path(__file__).parent / "results"
EXAMPLE = Path(__file__).parent.parent / "examples" / "service.py"
CLIENTS, ROUNDS = 4, 3
# Rows of a request, and requests of a round.
LOADS = ((1, 160), (100, 60))
TEXTS = ["city", "job", "plan", "unit"]


def table(n, seed):
    rng = np.random.default_rng(seed)
    numbers = pd.DataFrame(rng.standard_normal((n, 16)), columns=[f"x{j}" for j in range(16)])
    frame = numbers.assign(**{name: rng.choice([f"{name}{k}" for k in range(6)], n) for name in TEXTS})
    index = numbers.iloc[:, :5].sum(axis=1) + (frame["city"] == "city1")
    frame[numbers.columns] = numbers.mask(rng.random(numbers.shape) < 0.05)
    return frame, (index + rng.standard_normal(n) > 0).astype(int)


def columns():
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_column_transformer(
        (numbers, [f"x{j}" for j in range(16)]),
        (OneHotEncoder(handle_unknown="ignore"), TEXTS),
    )


MODELS = {
    "TableClassifier, our columns and our model": lambda: TableClassifier(SingleIndexClassifierCV(cv=3)),
    "Pipeline of scikit-learn, our model": lambda: make_pipeline(columns(), SingleIndexClassifierCV(cv=3)),
    "Pipeline of scikit-learn, LogisticRegression": lambda: make_pipeline(columns(), LogisticRegression()),
}


def serve(model, port):
    import uvicorn

    spec = importlib.util.spec_from_file_location("service", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    app = example.make_app(joblib.load(model), {"/predict": example.predict})
    uvicorn.run(app, port=port, log_level="warning", lifespan="off")


def start(path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.service", "--serve", str(path), "--port", str(port)]
    server = subprocess.Popen(command, env=environment)
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.1)
    raise RuntimeError("a service has ended before it listened")


def ask(port, bodies):
    """Send requests over one connection and return how long each took."""
    connection, times = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
    for body in bodies:
        began = time.perf_counter()
        connection.request("POST", "/predict", body)
        answer = connection.getresponse()
        answer.read()
        times.append(time.perf_counter() - began)
        assert answer.status == 200
    connection.close()
    return times


def measure(port, bodies):
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        parts = list(pool.map(lambda k: ask(port, bodies[k::CLIENTS]), range(CLIENTS)))
    return len(bodies) / (time.perf_counter() - began), [one for part in parts for one in part]


def run():
    frame, y = table(2000, 0)
    new, _ = table(400, 1)
    servers, found = {}, []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for k, (name, make) in enumerate(MODELS.items()):
                joblib.dump(make().fit(frame, y), Path(folder) / f"{k}.joblib")
                servers[name] = start(Path(folder) / f"{k}.joblib")
            for n_rows, n_requests in LOADS:
                found += in_turns(servers, new, n_rows, n_requests)
        finally:
            for server, _ in servers.values():
                server.terminate()
                server.wait()
    return found


def in_turns(servers, new, n_rows, n_requests):
    starts = [k * n_rows % (len(new) - n_rows + 1) for k in range(n_requests)]
    bodies = [new.iloc[k : k + n_rows].to_json(orient="records") for k in starts]
    rates, times = {name: [] for name in servers}, {name: [] for name in servers}
    for _, port in servers.values():
        ask(port, bodies[:20])
    for _ in range(ROUNDS):
        for name, (_, port) in servers.items():
            rate, one = measure(port, bodies)
            rates[name].append(rate)
            times[name] += one
    return [
        {
            "service": name, "rows per request": n_rows, "requests": len(times[name]),
            "requests per second": round(float(np.median(rates[name])), 1),
            "median ms": round(1e3 * float(np.median(times[name])), 2),
            "p99 ms": round(1e3 * float(np.quantile(times[name], 0.99)), 2),
        }
        for name in servers
    ]  # fmt: skip


def page(outcome):
    keys = list(outcome["rows"][0])
    table = as_table(keys, (row.values() for row in outcome["rows"]), n_left=len(keys))
    about = ", ".join(f"{name} {version}" for name, version in outcome["versions"].items())
    fields = {"clients": CLIENTS, "rounds": ROUNDS, "table": "\n".join(table), "about": about}
    return "\n".join([*fill("service", outcome, **fields), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", help="serve this model, which the measurement asks for")
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.port)
        return
    import uvicorn

    modules = {"singleindex": singleindex, "scikit-learn": sklearn, "pandas": pd, "uvicorn": uvicorn}
    versions = {name: module.__version__ for name, module in modules.items()}
    outcome = {
        "commit": source_commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores shared with other work",
        "versions": {"Python": platform.python_version(), **versions},
        "rows": run(),
    }
    (RESULTS / "service.json").write_text(json.dumps(outcome, indent=1) + "\n")
    (RESULTS / "service.md").write_text(page(outcome))
    print(page(outcome))


if __name__ == "__main__":
    main()
