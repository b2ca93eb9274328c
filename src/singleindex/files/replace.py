"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any


def replace_file(path: Any, content: bytes) -> None:
    """Write a file of this content, as :func:`replacing` does it."""
    try:
        with replacing(path) as temporary, open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno is None:  # one of ours, which says what is wrong
            raise
        # It names the temporary file, or none.
        raise OSError(error.errno, error.strerror, os.fsdecode(path)) from error


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[str]:
    """Give the name of an empty file beside `path` to write to; it is renamed when all has been written.

    So at no moment half a file has the name `path`. An existing file keeps its permission bits, and a
    symbolic link goes on leading to its file. Whatever fails, a full disk or an interrupt, leaves the old
    file as it was and nothing beside it.
    """
    target = check_target(path)
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
    temporary = os.path.join(os.path.dirname(target), f".singleindex-{secrets.token_hex(8)}.tmp")
    try:
        # What replaces a private file must not be readable by others while it is written.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600))
        yield temporary
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def check_target(path: Any) -> str:
    """Return where a file of this name lies, links followed; raise where none can be written."""
    name = os.fsdecode(path)
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The folder {folder} does not exist; create it first.")
    try:
        mode = os.stat(name or ".").st_mode
    except FileNotFoundError:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"The folder {folder} is read-only; give a name in another one.") from None
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{target} is a directory; give the name of a file to save to.")
    if not stat.S_ISREG(mode):
        raise FileExistsError(
            f"{name} is a device, a pipe or a socket, and is left as it is; give the name of a file."
        )
    if not os.access(target, os.W_OK):
        raise PermissionError(f"{name} is read-only; make it writable, or give another name.")
    return target
