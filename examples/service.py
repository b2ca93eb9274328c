"""A model of the command line as a web service, in plain ASGI: copy it and change what you like.

pip install "singleindex[cli]" uvicorn
singleindex fit patients.csv --target relapse --impute median -o model.sim
MODEL=model.sim uvicorn --app-dir examples service:app --lifespan off
curl localhost:8000/predict -d '[{"age": 61, "city": "Bonn"}, {"age": null, "city": "Rom"}]'
"""

import asyncio
import json
import os

import numpy as np
import pandas as pd

from singleindex.inspection import explain
from singleindex.persistence import load_table

MOST_BYTES, MOST_ROWS = 1_000_000, 1_000


class Refused(Exception):
    """A request that gets no answer: the status, and a sentence that says what to mend."""


def predict(model, frame):
    answer = {"prediction": model.predict(frame).tolist()}
    if hasattr(model, "predict_proba"):
        answer |= {"classes": model.classes_.tolist(), "probability": model.predict_proba(frame).tolist()}
    return answer


def explanation(model, frame):
    """Say what the mean row has for an index, and what each feature with a weight adds to it in every row."""
    told = explain(model, frame)
    used = [j for j in range(len(told.feature_names)) if told.contributions[:, j].any()]
    rows = [{told.feature_names[j]: row[j].tolist() for j in used} for row in told.contributions]
    return {
        "prediction": told.prediction.tolist(),
        "index": told.index.tolist(),  # of the base and all contributions
        "base": np.asarray(told.base).tolist(),
        "contributions": rows,
    }


async def read(receive):
    """Return the body of a request; one that is too long is not waited for."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if len(body) > MOST_BYTES:
            raise Refused(413, f"the body is larger than {MOST_BYTES} bytes; send fewer rows at a time")
    return body


def as_rows(body):
    try:
        rows = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is no JSON: {error}") from error
    plain = (str, int, float, bool, type(None))
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise Refused(422, 'send a list of rows, each an object of columns, as in [{"age": 61}]')
    if not all(isinstance(value, plain) for row in rows for value in row.values()):
        raise Refused(422, "a value must be a number, text, true, false or null")
    if len(rows) > MOST_ROWS:
        raise Refused(413, f"there are {len(rows)} rows; send {MOST_ROWS} at most")
    return pd.DataFrame(rows)


def make_app(model, answers):
    """Return the ASGI app: `answers` has a function of the model and a data frame for each path."""

    def answer(path, body):
        try:
            return answers[path](model, as_rows(body))
        except (ValueError, OverflowError) as error:
            raise Refused(422, str(error)) from error

    async def app(scope, receive, send):
        try:
            if scope["path"] not in answers:
                raise Refused(404, f"there are {', '.join(answers)}")
            if scope["method"] != "POST":
                raise Refused(405, "POST the rows as JSON")
            # In a thread, so that a long request does not hold up others' bodies.
            status, found = 200, await asyncio.to_thread(answer, scope["path"], await read(receive))
        except Refused as refusal:
            status, found = refusal.args[0], {"error": refusal.args[1]}
        content = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": content})
        await send({"type": "http.response.body", "body": json.dumps(found).encode()})

    return app


if "MODEL" in os.environ:
    app = make_app(load_table(os.environ["MODEL"]), {"/predict": predict, "/explain": explanation})
