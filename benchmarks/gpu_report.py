"""What the page of the documents says of GPUs: text from stored figures."""

from __future__ import annotations

from pathlib import Path

from .pages import fill, rows

PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
BEGIN = "<!-- measured, by benchmarks/gpu.py -->"
LATER = (
    "\nThe {name} were measured by themselves on {date}, on one {device} beside {cores} cores; their source "
    "was that of commit {commit}."
)
ITERATION = (
    "| {storage} | {d:,} | {n:,} | {floor_ms:.2f} | {device_ms:.2f} | {device_ratio:.2f} "
    "| {iteration_ms:.2f} | {ratio:.2f} | {two} |"
)
MODELS = "| {models} | {at_once} | {sweep_ms:.2f} | {two_products_ms:.2f} |"
PROJECTIONS = "| `{structure}` | {d:,} | {host_ms:.3f} | {device_ms:.3f} |"
WAYS = {
    "gpu_s": "`SingleIndexClassifier` on the GPU",
    "torch_s": "L1-logistic regression by proximal gradient, PyTorch with `torch.compile`",
    "cpu_s": "`SingleIndexClassifier` on {cores} cores",
}


def page_block(known):
    machine, fits, searches = known["machine"], known["fits"], known["searches"]
    ways = [(name, fits[key]) for key, name in WAYS.items() if key in fits]
    later = [LATER.format(name=name, **there) for name, there in known.get("later", {}).items()]
    return fill(
        "gpu",
        known,
        cuda=f"{machine['cuda'] // 1000}.{machine['cuda'] % 1000 // 10}",
        versions=", ".join(f"{name} {version}" for name, version in machine["versions"].items()),
        later="".join(later),
        iteration=rows(ITERATION, (one | {"two": products_text(**one)} for one in known["iteration"])),
        ways="\n".join(f"| {name.format(**machine)} | {seconds:.3g} |" for name, seconds in ways),
        same_fits="yes" if fits["same_bits"] else "no",
        models=rows(MODELS, known["models"]),
        entries=known["csr"]["entries"] / known["csr"]["n"],
        many=searches["many"],
        reading=searches["reading"],
        same_searches="yes" if searches["many"]["same_bits"] else "no",
        projections=rows(PROJECTIONS, known["projections"]),
    )


def products_text(iteration_ms, two_products_ms=None, **_):
    """Return how many times as long two products take; "" where they were not measured."""
    return f"{two_products_ms / iteration_ms:.2f}" if two_products_ms else ""
