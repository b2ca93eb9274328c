"""Print the least version of all that pyproject.toml needs to be tested, as constraints for pip."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def requirements(extra: str) -> Iterator[str]:
    """Yield what an extra asks for, that of the extras it includes as well."""
    for requirement in PROJECT["optional-dependencies"][extra]:
        if included := re.fullmatch(rf"{PROJECT['name']}\[(.*)\]", requirement):
            for name in included[1].split(","):
                yield from requirements(name)
        else:
            yield requirement


def pins() -> list[str]:
    """Return `name==version` for each requirement that names a least version."""
    asked = [*PROJECT["dependencies"], *requirements("test")]
    found = (re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement) for requirement in asked)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


if __name__ == "__main__":
    print("\n".join(pins()))
