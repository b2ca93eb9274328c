"""The default search beside strong rivals: `python -m benchmarks.exact_steps [study …] [--render]`.

Every measurement is one JSON line in `benchmarks/results/exact_steps.jsonl`: a rival is measured once, our
own methods once for each commit of `src/`. Seeds below 100 are for the report; whatever is tuned is tuned on
seeds from 100 on. `command.py` says what a study is.
"""
