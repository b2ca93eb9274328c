"""What the report and the page of the documents say of data that does not fit: text from stored figures."""

from __future__ import annotations

from pathlib import Path


def report(known):
    """Return the lines of the report."""
    lines = [
        "One iteration on sparse rows, as a multiple of `X @ w` and `X.T @ r` by scipy (the least of many "
        "turns). *All*: w has no "
        "limit.",
        "*Few*: w has d // 16 atoms.",
        "",
        "| data | entries | all, 1 thread | all, 2 threads | few, 1 thread | few, 2 threads |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for one in known["iteration"]:
        ratios = " | ".join(f"{one[f'{k}, {t}']:.2f}" for k in ("all", "few") for t in (1, 2))
        lines.append(f"| {one['data']} | {one['entries']:,} | {ratios} |")
    lines += ["", "Link and projection, as a share of an iteration on one thread: "]
    lines[-1] += "; ".join(f"{one['data']}: {100 * one['share']:.0f} %" for one in known["link"]) + "."
    lines += [
        "",
        "Whole fits in memory, `n_atoms=10`: one pass as a multiple of two passes, and both on held-out "
        "rows.",
        "",
        "| data | time | AUC, one pass | AUC, two passes | Brier, one | Brier, two |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for one in known["one_two"]:
        lines.append(
            f"| {one['data']} | {one['ratio']:.2f} | {one['auc_one']:.4f} | {one['auc_two']:.4f} | "
            f"{one['brier_one']:.4f} | {one['brier_two']:.4f} |"
        )
    p = known["parquet"]
    lines += [
        "",
        f"Parquet, {p['rows']:,} rows of {p['columns']} columns: one iteration runs at "
        f"{p['rows_per_s']:,.0f} rows per "
        f"second, {100 * p['share']:.0f} % of the rate at which pyarrow alone reads the columns.",
        "",
        "One epoch of stochastic CSI, rows not seen: ",
        "",
        "| data | AUC, full | AUC, one epoch | AUC, SGDClassifier | Brier, full | Brier, one epoch | "
        "Brier, SGD | rows/s, "
        "full fit | rows/s, one epoch | rows/s, SGD |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for one in known["stream"]:
        auc = " | ".join(f"{one[f'{k}_auc']:.4f}" for k in ("full", "epoch", "sgd"))
        brier = " | ".join(f"{one[f'{k}_brier']:.4f}" for k in ("full", "epoch", "sgd"))
        rates = " | ".join(f"{one[f'{k}_rows_per_s']:,.0f}" for k in ("full", "epoch", "sgd"))
        lines.append(f"| {one['data']} | {auc} | {brier} | {rates} |")
    lines += [
        "",
        "Peak memory of a process that fits a dense .npy file, 20 columns:",
        "",
        "| rows | file, MiB | before the fit, MiB | peak, MiB | rows per second and iteration |",
        "| --: | --: | --: | --: | --: |",
    ]
    for one in known["memory"]:
        lines.append(
            f"| {one['rows']:,} | {one['file_mib']:,.0f} | {one['before_mib']:.0f} | {one['peak_mib']:.0f} | "
            f"{one['rows_per_s']:,.0f} |"
        )
    big = known["large"]
    lines += [
        "",
        f"A dense file of {big['file_gb']:.1f} GB ({big['rows']:,} × {big['columns']}): peak "
        f"{big['peak_mib']:.0f} MiB, "
        f"{big['rows_per_s']:,.0f} rows per second and iteration.",
    ]
    return lines


# ---------------------------------------------------------------- the page of the documents

PAGE = Path(__file__).parents[1] / "docs" / "big_data.md"
BEGIN, END = "<!-- measured, by benchmarks/bigdata.py -->", "<!-- end of what was measured -->"
BILLION = 10**9
ITERATIONS = 10


def page_block(known):
    """Return what the page says of costs: measured figures, and what they would come to at a billion rows."""
    big, parquet, streamed = known["large"], known["parquet"], known["stream"][0]
    flat = known["memory"]
    ways = [
        ("`.npy` file, 100 columns", big["rows_per_s"], f"{big['peak_mib']:.0f} MiB", 8 * 100),
        (
            f"Parquet file, {parquet['columns']} columns", parquet["rows_per_s"], "as for `.npy`",
            parquet["file_bytes"] / parquet["rows"],
        ),
    ]  # fmt: skip
    lines = [
        f"Measured on two cores of a shared machine: a dense file of {big['file_gb']:.1f} GB "
        f"({big['rows']:,} rows of "
        f"{big['columns']} columns) is fitted within {big['peak_mib']:.0f} MiB, of which "
        f"{big['before_mib']:.0f} are "
        "Python and its libraries.",
        "",
        "| rows of 20 columns | file, MiB | peak, MiB |",
        "| --: | --: | --: |",
        *(f"| {one['rows']:,} | {one['file_mib']:,.0f} | {one['peak_mib']:.0f} |" for one in flat),
        "",
        f"What {ITERATIONS} iterations over 10⁹ rows would take, at the measured rates (time is rows × "
        "iterations ÷ rate; "
        "a fit usually needs 3 to 15 iterations, and two readings before the first):",
        "",
        "| way | rows per second | 10⁹ rows are | 10 iterations | memory |",
        "| --- | --: | --: | --: | --- |",
    ]
    for name, rate, peak, row_bytes in ways:
        hours = BILLION * (ITERATIONS + 2) / rate / 3600
        lines.append(
            f"| {name} | {rate:,.0f} | {row_bytes * BILLION / 1e9:,.0f} GB | {hours:.1f} h | {peak} |"
        )
    rate = streamed["epoch_rows_per_s"]
    lines.append(
        f"| one epoch of a stream, 100 columns in memory | {rate:,.0f} | {8 * 100 * BILLION / 1e9:,.0f} GB | "
        f"{BILLION / rate / 3600:.1f} h (one epoch) | one chunk |"
    )
    lines += [
        "",
        "These are extrapolations: nobody has run them here. They hold where the disk gives as many bytes "
        "per second "
        "at a terabyte as it did at the sizes measured, part of which the system kept in memory. On a "
        "cluster divide by "
        "the number of workers as long as each has its own disk and core; a visit moves d + bins numbers "
        "per block.",
    ]
    return lines


def write_page(known):
    head, rest = PAGE.read_text().split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text("\n".join([head + BEGIN, "", *page_block(known), "", END]) + tail)
