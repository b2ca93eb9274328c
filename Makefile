# Two commands: `make demo` and `make test`. Both need python3, make and a C compiler, nothing else.
#
# The package is built in the environment itself, so that kernels are compiled again only where they changed; what it
# needs is installed afterwards, by asking for the extras of the package that is there, in pip's ordinary isolated way.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.py' -o -name '*.pyx' -o -name '*.pxd') meson.build pyproject.toml
BUILD_TOOLS := meson-python meson ninja 'Cython>=3.1'
export PATH := $(CURDIR)/$(BIN):$(PATH)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
BUILD := $(PIP) install --no-build-isolation --no-deps -Cbuild-dir=$(VENV)/build
EXTRAS = $(PIP) install 'singleindex[$(1)]'
# Two processes, each with the tests of a file together, and no threads that would fight over the cores: those of
# OpenMP wait for each other without sleeping, and boosting takes ten times as long. Tests of threads ask for theirs.
JOBS ?= 2
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m pytest -n $(JOBS) --dist loadfile
# Versions of other packages break calls, which one case of each test makes as well as all, and take no more memory.
SOME_TESTS := HYPOTHESIS_PROFILE=brief $(PYTEST) --most-cases 1 -k 'not memory_does_not_grow' \
	$(addprefix tests/,estimators link structures design solvers tables persistence)

.PHONY: demo images test test-oldest test-newest lint wheel mlflow docs dev bench bench-quick studies paper clean

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

# The pictures of the documents are those of the demo, and figures of their own.
images: demo
	$(BIN)/python docs/figures.py

test: $(VENV)/.installed-test
	$(PYTEST) tests README.md docs/start.md --doctest-glob='*.md'
	cd $(VENV) && bin/python -m pytest --doctest-modules --pyargs singleindex -c ../pyproject.toml --rootdir=..

# At the least versions that pyproject.toml allows. What they warn of is no concern of ours.
test-oldest: .venv-oldest/.installed
	PATH=$(CURDIR)/.venv-oldest/bin:$$PATH $(SOME_TESTS) tests/export tests/cli -o filterwarnings=

# At the newest Python of this machine.
test-newest: .venv-newest/.installed
	PATH=$(CURDIR)/.venv-newest/bin:$$PATH $(SOME_TESTS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# What would be published: the committed sources, and a wheel built from them, tried where nothing can be compiled.
wheel: $(VENV)/.tools
	rm -rf dist .venv-wheel
	$(PIP) install build
	$(BIN)/python -m build --quiet --outdir dist
	$(PYTHON) -m venv .venv-wheel
	PATH=$(CURDIR)/.venv-wheel/bin CC=false python -m pip --disable-pip-version-check --quiet install dist/*.whl
	PATH=$(CURDIR)/.venv-wheel/bin python .ci/smoke_test.py

# A model logged with MLflow and scored through it, in an environment of its own; the outcome is in benchmarks/results.
mlflow: .venv-mlflow/.installed
	PATH=$(CURDIR)/.venv-mlflow/bin:$$PATH python .ci/mlflow_trial.py

# The site is in docs/_build/html; every lesson and example is run, and a warning is an error.
docs: $(VENV)/.installed
	$(call EXTRAS,docs)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# Side by side with every peer, each in an environment of its own, then our own short studies: an hour of one core, or
# two on a slow one.
bench: $(VENV)/.installed-test
	$(call EXTRAS,bench)
	$(BIN)/python -m benchmarks.side_by_side
	$(BIN)/python -m benchmarks

# Side by side on small problems, ten minutes with the installation of the peers; the stored results stay as they are.
bench-quick: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.side_by_side --quick

# The long studies, about eight hours of one core: the default search beside strong rivals (three hours), bands and
# stable features (two), intervals (one and a half), data that does not fit and clusters (one and a half). Each cell is
# stored as it ends and keyed by the commit: cut short, the same command goes on. A cell that failed is tried again.
# Threads of BLAS wait for each other without sleeping, and beside other programs take many times as long: one is
# enough for the products of the last studies.
studies: $(VENV)/.installed-test
	$(call EXTRAS,bench)
	for study in exact_steps uncertainty intervals; do \
	    $(BIN)/python -m benchmarks.$$study $(ARGS); $(BIN)/python -m benchmarks.$$study --render || exit 1; done
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks bigdata block_search

# The paper's tables and figure, under an hour on two cores; `make paper ARGS=--quick` takes five minutes.
paper: $(VENV)/.installed
	$(call EXTRAS,experiments)
	$(BIN)/python -m experiments $(ARGS)

# An editable install: Python files are read from src/, kernels are rebuilt on import.
dev: $(VENV)/.tools
	$(PIP) install --no-build-isolation --no-deps --editable .
	$(call EXTRAS,dev)

$(VENV)/.tools:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	$(PIP) install $(BUILD_TOOLS)
	touch $@

$(VENV)/.installed: $(VENV)/.tools $(SOURCES)
	$(BUILD) .
	$(call EXTRAS,plot)
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(call EXTRAS,dev)
	touch $@

.venv-oldest/.installed: CONSTRAINTS = --constraint $(@D)/minimums.txt
.venv-oldest/.installed .venv-newest/.installed: .venv-%/.installed: $(SOURCES) .ci/find_python.py .ci/minimums.py
	rm -rf $(@D)
	python=$$($(PYTHON) .ci/find_python.py $*) && $$python -m venv $(@D)
	$(PYTHON) .ci/minimums.py > $(@D)/minimums.txt
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install '.[test]' $(CONSTRAINTS)
	touch $@

.venv-mlflow/.installed: $(SOURCES)
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install '.[cli]' mlflow
	touch $@

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest .venv-wheel .venv-mlflow benchmarks/side_by_side/.environments build dist .mypy_cache .pytest_cache .ruff_cache demo_output docs/_build docs/_generated docs/course docs/gallery docs/api/generated
