"""What the report and the page of the documents say of data that does not fit: text from stored figures."""

from __future__ import annotations

from pathlib import Path

from .pages import as_table, replace_measured


def report(known):
    """Return the lines of the report."""
    parts = (one_two_lines, parquet_lines, stream_lines, memory_lines)
    return [line for part in parts for line in [*part(known), ""]][:-1]


def one_two_lines(known):
    rows = [
        [one["data"], f"{one['ratio']:.2f}"]
        + [f"{one[name]:.4f}" for name in ("auc_one", "auc_two", "brier_one", "brier_two")]
        for one in known["one_two"]
    ]
    head = ["data", "time", "AUC, one pass", "AUC, two passes", "Brier, one", "Brier, two"]
    return [
        "Whole fits in memory, `n_atoms=10`: processor time of one pass as a multiple of that of two, and "
        "both on held-out rows.",
        "",
        *as_table(head, rows),
    ]


def parquet_lines(known):
    p = known["parquet"]
    return [
        f"Parquet, {p['rows']:,} rows of {p['columns']} columns: one iteration runs at "
        f"{p['rows_per_s']:,.0f} rows per second, {100 * p['share']:.0f} % of the rate at which pyarrow "
        "alone "
        "reads the columns."
    ]


def stream_lines(known):
    names = ("full", "epoch", "sgd")
    rows = []
    for one in known["stream"]:
        scores = [f"{one[f'{k}_{score}']:.4f}" for score in ("auc", "brier") for k in names]
        rows.append([one["data"], *scores, *(f"{one[f'{k}_rows_per_s']:,.0f}" for k in names)])
    told = ("full fit", "one epoch", "SGDClassifier")
    head = ["data", *(f"{what}, {k}" for what in ("AUC", "Brier", "rows/s") for k in told)]
    return [
        "One epoch of stochastic CSI, on rows not seen:",
        "",
        *as_table(head, rows),
    ]


def memory_lines(known):
    names = ("rows", "file_mib", "before_mib", "peak_mib", "rows_per_s")
    rows = [[f"{one[name]:,.0f}" for name in names] for one in known["memory"]]
    head = ["rows", "file, MiB", "before the fit, MiB", "peak, MiB", "rows per second and iteration"]
    big = known["large"]
    return [
        "Peak memory of a process that fits a dense .npy file, 20 columns:",
        "",
        *as_table(head, rows, 0),
        "",
        f"A dense file of {big['file_gb']:.1f} GB ({big['rows']:,} × {big['columns']}): peak "
        f"{big['peak_mib']:.0f} MiB, {big['rows_per_s']:,.0f} rows per second and iteration.",
    ]


# ---------------------------------------------------------------- the page of the documents

PAGE = Path(__file__).parents[1] / "docs" / "big_data.md"
BEGIN = "<!-- measured, by benchmarks/bigdata.py -->"
BILLION = 10**9
ITERATIONS = 10


def page_block(known):
    """Return what the page says of costs: measured figures, and what they come to at a billion rows."""
    big = known["large"]
    peaks = [[f"{one[name]:,.0f}" for name in ("rows", "file_mib", "peak_mib")] for one in known["memory"]]
    return [
        f"Measured on two cores of a shared, busy machine: a dense file of {big['file_gb']:.1f} GB "
        f"({big['rows']:,} rows of {big['columns']} columns) is fitted within {big['peak_mib']:.0f} MiB, of "
        f"which {big['before_mib']:.0f} are Python and its libraries.",
        "",
        *as_table(["rows of 20 columns", "file, MiB", "peak, MiB"], peaks, 0),
        "",
        f"What {ITERATIONS} iterations over 10⁹ rows would take, at the measured rates (time is rows × "
        "readings "
        "÷ rate; a fit usually needs 3 to 15 iterations, and two readings before the first):",
        "",
        "| way | rows per second | 10⁹ rows are | time | memory |",
        "| --- | --: | --: | --: | --- |",
        *billion_lines(known),
        "",
        "These are extrapolations; none of them has been run. They hold where the disk gives as many "
        "bytes per",
        "second at a terabyte as it did at the sizes measured, part of which the system kept in memory. On a",
        "cluster divide by the number of workers as long as each has its own disk and core.",
    ]


def billion_lines(known):
    big, parquet, streamed = known["large"], known["parquet"], known["stream"][0]
    of_parquet = parquet["file_bytes"] / parquet["rows"]
    peak = f"{big['peak_mib']:.0f} MiB"
    ways = [
        ("`.npy` file, 100 columns", big["rows_per_s"], 800, ITERATIONS + 2, peak),
        (
            f"Parquet, {parquet['columns']} columns",
            parquet["rows_per_s"],
            of_parquet,
            ITERATIONS + 2,
            "alike",
        ),
        ("stream, 100 columns, one epoch", streamed["epoch_rows_per_s"], 800, 1, "one batch"),
    ]
    return [
        f"| {name} | {rate:,.0f} | {row_bytes * BILLION / 1e9:,.0f} GB | "
        f"{BILLION * readings / rate / 3600:.1f} h | {memory} |"
        for name, rate, row_bytes, readings, memory in ways
    ]


def write_page(known):
    replace_measured(PAGE, BEGIN, page_block(known))
