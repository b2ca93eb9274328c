"""Log a model with MLflow's scikit-learn flavour, score rows through it, and store the outcome.

`make mlflow` runs it in an environment of its own: MLflow is large, and pins packages.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from importlib import metadata
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from singleindex import SingleIndexClassifierCV, TableClassifier

OUTCOME = Path(__file__).parent.parent / "benchmarks" / "results" / "mlflow.json"


def patients(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.integers(20, 90, n).astype(float), "dose": rng.gamma(2, 2, n),
        "city": rng.choice(["Köln", "Rom", "Bonn"], n),
    })  # fmt: skip
    index = frame["dose"] - 0.05 * frame["age"] + (frame["city"] == "Rom")
    frame.loc[::9, "dose"] = np.nan
    return frame, (index + rng.standard_normal(n) > 1).astype(int)


def models():
    columns = make_column_transformer(
        (SimpleImputer(), ["age", "dose"]), (OneHotEncoder(handle_unknown="ignore"), ["city"])
    )
    return {
        "TableClassifier": TableClassifier(SingleIndexClassifierCV(cv=3)),
        "Pipeline": make_pipeline(columns, SingleIndexClassifierCV(cv=3)),
    }


def log(name, model, rows):
    """Return where a model was logged to. Newer versions keep it with skops, and ask whom to trust."""
    try:
        info = mlflow.sklearn.log_model(
            model, name=name, input_example=rows.head(2), serialization_format="cloudpickle"
        )
    except TypeError:  # before version 3 it was called otherwise
        info = mlflow.sklearn.log_model(
            model, name, input_example=rows.head(2), serialization_format="cloudpickle"
        )
    return info.model_uri


def through_the_command_line(uri, rows, folder):
    """Return what `mlflow models predict` says of rows."""
    given, told = folder / "rows.json", folder / "told.json"
    given.write_text(json.dumps({"dataframe_split": json.loads(rows.to_json(orient="split", index=False))}))
    command = [sys.executable, "-m", "mlflow", "models", "predict", "-m", uri, "-i", str(given), "-t", "json"]
    subprocess.run([*command, "-o", str(told), "--env-manager", "local"], check=True)
    return json.loads(told.read_text())["predictions"]


def trial(name, model, folder):
    frame, y = patients()
    new, _ = patients(50, 1)
    new.loc[4, "city"] = "Ürümqi"
    model.fit(frame, y)
    with mlflow.start_run():
        uri = log(name, model, frame)
    own = model.predict(new).tolist()
    loaded = mlflow.sklearn.load_model(uri)
    gap = float(np.abs(loaded.predict_proba(new) - model.predict_proba(new)).max())
    scored = mlflow.pyfunc.load_model(uri).predict(new)
    return {
        "largest difference of probabilities": gap,
        "pyfunc agrees": np.asarray(scored).tolist() == own,
        "mlflow models predict agrees": through_the_command_line(uri, new, folder) == own,
    }


def main():
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        uri = f"sqlite:///{folder / 'runs.db'}"
        mlflow.set_tracking_uri(uri)
        # The command line of MLflow, a process of its own, goes by this.
        os.environ["MLFLOW_TRACKING_URI"] = uri
        mlflow.set_experiment(
            experiment_id=mlflow.create_experiment("trial", artifact_location=(folder / "files").as_uri())
        )
        found = {name: trial(name, model, folder) for name, model in models().items()}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    versions = {name: metadata.version(name) for name in ("singleindex", "mlflow", "scikit-learn", "pandas")}
    versions["python"] = platform.python_version()
    outcome = {"commit": commit.stdout.strip(), "versions": versions, "models": found}
    OUTCOME.write_text(json.dumps(outcome, indent=1) + "\n")
    print(json.dumps(outcome, indent=1))
    agree = [value for one in found.values() for value in one.values()]
    sys.exit(0 if all(value is True or value == 0.0 for value in agree) else 1)


if __name__ == "__main__":
    main()
