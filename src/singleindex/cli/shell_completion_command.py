"""`singleindex shell-completion`: commands and options at the press of the tab key."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

EPILOG = """\b
Examples:
  singleindex shell-completion bash > ~/.local/share/bash-completion/completions/singleindex
  singleindex shell-completion zsh > "${fpath[1]}/_singleindex"
  singleindex shell-completion fish > ~/.config/fish/completions/singleindex.fish
"""


@click.command("shell-completion", epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete the commands and options of singleindex."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"there is no completion for {shell}")
    root = ctx.find_root().command
    click.echo(kind(root, {}, "singleindex", "_SINGLEINDEX_COMPLETE").source())
