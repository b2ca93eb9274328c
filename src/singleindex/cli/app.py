"""The commands put together, and what becomes of errors."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import Any

import click
from click.shell_completion import CompletionItem

from .messages import CliError, ExitCode, say_error, say_warning

# The commands and what they do; their modules are loaded when they are called.
COMMANDS = {
    "fit": "Learn a model from a table.",
    "predict": "Predict new rows.",
    "score": "Score a model on rows with a known target.",
    "report": "Write a page on a saved model.",
    "path": "Trace models from few features to many.",
    "inspect": "Print a saved model.",
    "export": "Write a model as JSON, SQL or ONNX.",
    "demo": "A tour with made-up data.",
    "shell-completion": "Set up the tab key.",
}
HELP = """Which features matter, what shape has the response, how well does it predict?

Learns E[y | x] = g(w · x) from a table: a short list of weights w and an increasing curve g.

\b
  singleindex demo                                      a tour with made-up data
  singleindex fit data.csv --target relapse             learn, print the answer, save model.sim
  singleindex fit data.csv -t relapse --report out.html the same with a page to read
  singleindex predict model.sim new.csv > predicted.csv
"""
EPILOG = """\b
Exit codes: 0 done; 1 unexpected error (--debug shows where); 2 wrong use of the command line;
3 data that cannot be used as they are; 4 a model file that cannot be read; 130 interrupted.

Results go to standard output, notes and progress to standard error; `-` stands for either.
"""


class LazyGroup(click.Group):
    """A group that imports a command's module when it is needed, and remembers what it was called with."""

    arguments: list[str]

    def main(self, args: Any = None, *others: Any, **settings: Any) -> Any:
        self.arguments = list(sys.argv[1:] if args is None else args)
        return super().main(args, *others, **settings)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module("." + name.replace("-", "_") + "_command", __package__)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name]) for name in names), *options]


def show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from .. import __version__

    click.echo(f"singleindex {__version__}")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    help=HELP,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from.")
def app() -> None:
    pass


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; errors become one line on standard error."""
    arguments = sys.argv[1:] if arguments is None else arguments
    with warnings.catch_warnings():
        warnings.showwarning = say_warning  # type: ignore[assignment]
        return run_command(arguments, "--debug" in arguments)


def run_command(arguments: list[str], debug: bool) -> int:
    try:
        app.main(args=arguments, prog_name="singleindex", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        say_error("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FINE
    except Exception as error:
        if debug and not isinstance(error, click.UsageError):
            raise
        return explain(error)
    return ExitCode.FINE


def explain(error: Exception) -> int:
    """Say what went wrong in one line, and return the exit code for it."""
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "singleindex"
        say_error(f"{error.format_message()} (see: {command} --help)")
        return ExitCode.USAGE
    if isinstance(error, click.ClickException):
        say_error(error.format_message())
        return error.exit_code if isinstance(error, CliError) else ExitCode.USAGE
    if isinstance(error, (ValueError, TypeError, OSError, ImportError, MemoryError)):
        from ..persistence import ModelFileError

        say_error(str(error) or type(error).__name__)
        return ExitCode.MODEL if isinstance(error, ModelFileError) else ExitCode.DATA
    say_error(f"unexpected {type(error).__name__}: {error}; run again with --debug to see where")
    return ExitCode.UNEXPECTED
