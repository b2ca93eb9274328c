"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from functools import partial
from typing import Any


def replace_file(path: Any, content: bytes) -> None:
    """Write beside `path` and rename, so that at no moment half a file has this name.

    An existing file keeps its permission bits, and a symbolic link goes on leading to its file. Whatever
    fails, a full disk or an interrupt, leaves the old file as it was and nothing beside it.
    """
    target = check_target(path)
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
    temporary = os.path.join(os.path.dirname(target), f".singleindex-{secrets.token_hex(8)}.tmp")
    # What replaces a private file must not be readable by others while it is written.
    opener = partial(os.open, mode=0o666 if mode is None else 0o600)
    try:
        with open(temporary, "xb", opener=opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):  # which names the temporary file, or none
            raise OSError(error.errno, error.strerror, os.fsdecode(path)) from error
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
