"""Pages that are made, not written: the commands' own help, a sample report, the measured tables."""

from __future__ import annotations

import re
from pathlib import Path

import click


def write_generated(folder: Path, root: Path) -> None:
    """Write what the pages include. Files that would not change are left alone, so that builds are quick."""
    (folder / "extra").mkdir(parents=True, exist_ok=True)
    keep(folder / "commands.md", command_texts())
    keep(folder / "results.md", results_text(root))
    keep(folder / "changes.md", (root / "CHANGELOG.md").read_text(encoding="utf-8"))
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
