"""What the page of the documents says of GPUs: text from stored figures."""

from __future__ import annotations

from pathlib import Path

from .pages import as_table, replace_measured

PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
BEGIN = "<!-- measured, by benchmarks/gpu.py -->"


def write_page(known):
    replace_measured(PAGE, BEGIN, page_block(known))


def page_block(known):
    parts = (
        machine_lines, iteration_lines, fit_lines, model_lines, csr_lines, stream_lines, exact_lines,
        search_lines, projection_lines,
    )  # fmt: skip
    return [line for part in parts for line in [*part(known), ""]][:-1]


def machine_lines(known):
    one = known["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in one["versions"].items())
    return [
        f"Measured on {one['date']} on one {one['device']} ({one['multiprocessors']} multiprocessors, "
        f"{one['memory_gib']:.0f} GiB, driver {one['driver']}, CUDA {one['cuda'] // 1000}."
        f"{one['cuda'] % 1000 // 10}) beside {one['cores']} cores, with {versions}. The source "
        f"was that of commit {one['commit']}. Medians of 10 or more.",
        *(later_line(name, there) for name, there in known.get("later", {}).items()),
    ]


def later_line(name, there):
    """Return where one part alone was measured."""
    return (
        f"The {name} were measured by themselves on {there['date']}, on one {there['device']} beside "
        f"{there['cores']} cores; their source was that of commit {there['commit']}."
    )


def iteration_lines(known):
    rows = []
    for one in known["iteration"]:
        two = f"{one['two_products_ms'] / one['iteration_ms']:.2f}" if "two_products_ms" in one else ""
        times = (
            f"{one[name]:.2f}" for name in ("floor_ms", "device_ms", "device_ratio", "iteration_ms", "ratio")
        )
        rows.append([one["storage"], f"{one['d']:,}", f"{one['n']:,}", *times, two])
    head = ["stored as", "columns", "rows", "reading, ms", "device, ms", "÷ reading", "iteration, ms"]
    return [
        "One iteration with weights and 4096 bins, beside the fastest reading of the same bytes that we know",
        "to write. *Device*: what the GPU does, from the copy of w and the link there to the copy of",
        "gradient, sums and bins back. *Iteration*: the same by the clock, with all that the host has to do",
        "for it while the GPU waits. In the last column, how many times as long the two products `X @ w` and",
        "`X.T @ r` of cuBLAS take by themselves.",
        "",
        *as_table([*head, "÷ reading", "two products ÷ iteration"], rows),
    ]


def fit_lines(known):
    one = known["fits"]
    ways = [("`SingleIndexClassifier` on the GPU", one["gpu_s"])]
    if "torch_s" in one:
        ways.append(
            ("L1-logistic regression by proximal gradient, PyTorch with `torch.compile`", one["torch_s"])
        )
    ways.append((f"`SingleIndexClassifier` on {known['machine']['cores']} cores", one["cpu_s"]))
    return [
        f"{one['iterations']} iterations on {one['n']:,} rows of {one['d']:,} columns, float32, with all "
        "checks of the data and the final link:",
        "",
        *as_table(["fit", "seconds"], ([name, f"{seconds:.3g}"] for name, seconds in ways)),
        "",
        f"The direction of w agrees with that of the processor to {one['direction_float32']:.0e} in float32 "
        f"and {one['direction_float64']:.0e} in float64,",
        f"w with its length to {one['coef_float32']:.0e} and {one['coef_float64']:.0e}, the link to "
        f"{one['link_float32']:.0e} and {one['link_float64']:.0e}.",
        f"Two fits have the same bits: {'yes' if one['same_bits'] else 'no'}.",
    ]


def model_lines(known):
    rows = [
        [one["models"], one["at_once"], f"{one['sweep_ms']:.2f}", f"{one['two_products_ms']:.2f}"]
        for one in known["models"]
    ]
    return [
        "Several models on these data, by `sweep_together`, beside two matrix products of cuBLAS:",
        "",
        *as_table(["models", "of them in one reading", "sweep, ms", "two products, ms"], rows, 0),
    ]


def csr_lines(known):
    one = known["csr"]
    return [
        f"Sparse, {one['n']:,} × {one['d']:,} with {one['entries'] / one['n']:.0f} entries a row: an "
        f"iteration takes {one['iteration_ms']:.2f} ms, of which the index {one['index_ms']:.2f} and the",
        f"gradient {one['gradient_ms']:.2f}; the two products of cuSPARSE take {one['cusparse_ms']:.2f} ms, "
        f"{one['cusparse_with_transpose_ms']:.2f} with a second copy of X that is transposed.",
        f"That is {one['ratio']:.2f} of the former. Sorting the entries takes {one['sorted_s']:.2f} s, once.",
    ]


def stream_lines(known):
    one = known["fits"]["stream"]
    return [
        f"{one['gib']:.0f} GiB that stay in the memory of the machine: an iteration takes "
        f"{one['iteration_s']:.3f} s, {one['ratio']:.2f} of the time that the bus",
        f"needs for the copies alone, at {one['bus_gb_per_s']:.0f} GB/s.",
    ]


def exact_lines(known):
    one = known["exact"]
    return [
        f"Exact steps on {one['n']:,} rows of {one['d']:,} correlated columns, float32, 50 atoms: "
        f"{one['gpu_s']:.2f} s, of which the products of all",
        f"columns {one['gram_s']:.2f} s; from products that the cores make, {one['cpu_s']:.1f} s. "
        f"The directions of the two w differ by {one['direction']:.0e},",
        f"their lengths, which such data hardly determine, by {one['coef']:.0e}.",
    ]


def search_lines(known):
    one = known["searches"]
    many, reading = one["many"], one["reading"]
    return [
        f"`SingleIndexClassifierCV(cv={many['folds']})` on {many['n']:,} × {many['d']:,}, float32, by "
        f"{many['readings']} readings: {many['again_s']:.1f} s with X on the GPU, which reads it there;",
        f"{many['cpu_s']:.1f} s over chunks of the memory of the machine, on its cores. The directions of "
        f"the two w differ by {many['direction']:.0e}.",
        f"Two searches on the GPU have the same bits: {'yes' if many['same_bits'] else 'no'}.",
        f"One such reading for {reading['models']} models takes {reading['gpu_s']:.3f} s on the GPU, where "
        f"the two products of cuBLAS by themselves take {reading['products_s']:.3f} s, and",
        f"{reading['cpu_s']:.1f} s on the cores.",
        "",
        f"`SingleIndexClassifierCV(cv=3)` on {one['n']:,} × {one['d']:,}, so few rows that they are copied "
        f"to the host: {one['gpu_s']:.1f} s with X on the GPU,",
        f"{one['cpu_s']:.1f} s with X of numpy, the same w to {one['coef']:.0e}.",
    ]


def projection_lines(known):
    rows = [
        [f"`{one['structure']}`", f"{one['d']:,}", f"{one['host_ms']:.3f}", f"{one['device_ms']:.3f}"]
        for one in known["projections"]
    ]
    return [
        "A projection of w on the host, where it is done, and on the device with w on its way there and back",
        "(`LowRank`: of a square matrix on rank 5, by cuSOLVER):",
        "",
        *as_table(["structure", "numbers in w", "host, ms", "device, ms"], rows),
    ]
