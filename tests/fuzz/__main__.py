"""The command: python -m tests.fuzz --minutes 60 [--seed N] [--only NAME]."""

import argparse
import sys
from pathlib import Path

from .registry import load_targets, ordinary_targets
from .runner import Limits, Run


def main() -> int:
    options = read_options()
    load_targets()
    run = Run(
        options.only or ordinary_targets(),
        options.seed,
        options.out,
        Limits(options.limit, memory=options.memory << 20),
    )
    try:
        if options.case is not None:
            run.for_cases(1, first=options.case)
        elif options.cases is not None:
            run.for_cases(options.cases)
        else:
            run.for_seconds(60 * options.minutes)
    except KeyboardInterrupt:
        print("interrupted; so far:", file=sys.stderr)
    tell(run)
    return 1 if run.n_findings else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to run")
    parser.add_argument("--cases", type=int, help="run so many cases of each target instead")
    parser.add_argument("--case", type=int, help="run this one case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", action="append", choices=list(load_targets()), help="a target; may be repeated"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("fuzz_findings"), help="where inputs of findings are kept"
    )
    parser.add_argument("--limit", type=float, default=30.0, help="seconds until a case counts as a hang")
    parser.add_argument("--memory", type=int, default=512, help="MiB that a child may take")
    return parser.parse_args()


def tell(run: Run) -> None:
    """Print the table, and each finding with the command that brings it back."""
    print(f"{'target':<24}{'cases':>9}{'refused':>9}{'by accident':>13}{'findings':>10}")
    for name, tally in run.tallies.items():
        refused = f"{tally.n_refused:>9}{tally.n_by_accident:>13}"
        print(f"{name:<24}{tally.n_cases:>9}{refused}{len(tally.findings):>10}")
    for name, tally in run.tallies.items():
        for finding in sorted(tally.findings.values(), key=lambda one: (one.kind, one.place)):
            case = finding.cases[0]
            print(f"\n{name}: {finding.kind} at {finding.place} ({len(finding.cases)} cases)")
            print(f"  {finding.message.splitlines()[0] if finding.message else ''}")
            print(f"  python -m tests.fuzz --only {name} --seed {run.seed} --case {case}")
            print(f"  input: {run.folder / f'{name}-{run.seed}-{case}'}")
    write_refusals(run)


def write_refusals(run: Run) -> None:
    """Keep what was refused and how, most frequent first: to be read for words that do not help."""
    lines = []
    for name, tally in run.tallies.items():
        lines += [
            f"{n:>7} {name} {told}" for told, n in sorted(tally.refusals.items(), key=lambda item: -item[1])
        ]
    (run.folder / "refused.txt").write_text("\n".join(lines) + "\n", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
