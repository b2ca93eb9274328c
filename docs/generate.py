"""Pages that are made, not written: the commands' own help, a sample report, the measured tables."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import click


def write_generated(folder: Path, root: Path) -> None:
    """Write what the pages include. Files that would not change are left alone, so that builds are quick."""
    (folder / "extra").mkdir(parents=True, exist_ok=True)
    keep(folder / "commands.md", command_texts())
    keep(folder / "results.md", results_text(root))
    keep(folder / "changes.md", (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    hero = folder / "hero.html"
    if not hero.exists():
        hero.write_text(hero_chart(), encoding="utf-8")
    sample = folder / "extra" / "sample_report.html"
    if not sample.exists():
        sample.write_text(sample_report(), encoding="utf-8")


def keep(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def command_texts() -> str:
    """Return the help of every command, as the command line prints it."""
    from singleindex.cli.app import COMMANDS, app

    parts = []
    for name, what in COMMANDS.items():
        context = click.Context(app, info_name="singleindex", max_content_width=92, terminal_width=92)
        command = app.get_command(context, name)
        assert command is not None
        inner = click.Context(
            command, info_name=name, parent=context, max_content_width=92, terminal_width=92
        )
        parts.append(f"## {name}\n\n{what}\n\n```text\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)


def results_text(root: Path) -> str:
    """Return the default search beside strong rivals, then our own studies; the page has its own title."""
    folder = root / "benchmarks"
    texts = ((folder / name).read_text(encoding="utf-8") for name in ("results/exact_steps.md", "RESULTS.md"))
    return "\n".join(re.sub(r"^# .*\n", "", text, count=1) for text in texts)


def hero_chart() -> str:
    """Return the picture of the start page: what two models make of a response that is not logistic."""
    import numpy as np
    from sklearn.linear_model import LogisticRegressionCV

    from singleindex import SingleIndexClassifierCV
    from singleindex.datasets import make_single_index
    from singleindex.inspection._report.svg import Chart

    data = make_single_index(5600, 400, n_atoms=5, link="ramp", random_state=0)
    X, y, new = data.X[:600], data.y[:600], data.X[600:]
    ours = SingleIndexClassifierCV().fit(X, y)
    # In the scale of the data: the default grid has hardly a level where the choice is made.
    levels = np.abs(X.T @ (y - y.mean())).max() * np.geomspace(1, 1e-2, 30)
    peer = LogisticRegressionCV(
        Cs=1 / levels[::-1], l1_ratios=[1], solver="liblinear", cv=10, scoring="neg_log_loss", random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of names that we do not use
        peer.fit(X, y)
    order = np.argsort(data.index[600:])
    bins = np.array_split(order, 40)
    place = [data.index[600:][rows].mean() for rows in bins]
    chart = Chart((-4, 4), (-0.02, 1.02), "weighted sum of five features", "probability", height=340)
    grid = np.linspace(-4, 4, 300)
    chart.line(grid, data.link(grid), "muted dashed")
    off = {}
    for model, kind in ((peer, "two"), (ours, "one")):
        p = model.predict_proba(new)[:, 1]
        off[kind] = float(np.abs(p - data.mean[600:]).mean())
        inside = [(a, p[rows].mean()) for a, rows in zip(place, bins, strict=True) if -4 < a < 4]
        chart.line(*zip(*inside, strict=True), kind)
    keys = {"line one": "singleindex", "line two": "L1-logistic regression", "line muted dashed": "truth"}
    legend = "".join(f'<li><span class="key {kind}"></span>{text}</li>' for kind, text in keys.items())
    label = (
        "Line chart: the true response is flat, rises, and is flat again. Predicted probabilities are off by "
        f"{off['one']:.3f} on average with singleindex and by {off['two']:.3f} with logistic regression."
    )
    return f'<figure class="hero-chart">{chart.render(label)}<ul class="legend">{legend}</ul></figure>'


def sample_report() -> str:
    """Return the report that `singleindex demo` writes."""
    import contextlib
    import io
    import os
    import tempfile

    from singleindex.cli.app import run

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                code = run(["demo", "demo"])
            if code:
                raise RuntimeError("the demo failed")
            return (Path(place) / "demo" / "report.html").read_text(encoding="utf-8")
        finally:
            os.chdir(here)
