"""What the report and the page of the documents say of data that does not fit: text from stored figures."""

from __future__ import annotations

from pathlib import Path

from .pages import fill, rows

PAGE = Path(__file__).parents[1] / "docs" / "big_data.md"
BEGIN = "<!-- measured, by benchmarks/bigdata.py -->"
BILLION = 10**9
ITERATIONS = 10
UNKNOWN = "not measured"
ONE_TWO = "| {data} | {ratio:.2f} | {auc_one:.4f} | {auc_two:.4f} | {brier_one:.4f} | {brier_two:.4f} |"
STREAM = (
    "| {data} | {full_auc:.4f} | {epoch_auc:.4f} | {sgd_auc:.4f} | {full_brier:.4f} | {epoch_brier:.4f} "
    "| {sgd_brier:.4f} | {full_rows_per_s:,.0f} | {epoch_rows_per_s:,.0f} | {sgd_rows_per_s:,.0f} |"
)
MEMORY = "| {rows:,} | {file_mib:,.0f} | {before_mib:,.0f} | {peak_mib:,.0f} | {rows_per_s:,.0f} |"


def report(known):
    """Return the lines of the report."""
    tables = {
        name: rows(form, known[name])
        for name, form in (("one_two", ONE_TWO), ("stream", STREAM), ("memory", MEMORY))
    }
    return fill("bigdata", known, percent=100 * known["parquet"]["share"], **tables)


def page_block(known):
    """Return what the page says of costs: measured figures, and what they come to at a billion rows."""
    memory = rows("| {rows:,} | {file_mib:,.0f} | {peak_mib:,.0f} |", known["memory"])
    ways = "\n".join(way_row(*way) for way in ways_to_a_billion(known))
    return fill("bigdata_page", known, iterations=ITERATIONS, memory=memory, ways=ways)


def ways_to_a_billion(known):
    """Return names, rows per second, bytes of a row, readings and memory."""
    big, parquet, stream = known["large"], known["parquet"], known["stream"][0]
    of_parquet, readings = parquet["file_bytes"] / parquet["rows"], ITERATIONS + 2
    return (
        ("`.npy` file, 100 columns", big["rows_per_s"], 800, readings, f"{big['peak_mib']:.0f} MiB"),
        (f"Parquet, {parquet['columns']} columns", parquet["rows_per_s"], of_parquet, readings, UNKNOWN),
        ("stream, 100 columns, one epoch", stream["epoch_rows_per_s"], 800, 1, UNKNOWN),
    )


def way_row(name, rate, row_bytes, readings, memory):
    hours = BILLION * readings / rate / 3600
    return f"| {name} | {rate:,.0f} | {row_bytes * BILLION / 1e9:,.0f} GB | {hours:.1f} h | {memory} |"
