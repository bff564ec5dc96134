# Everything that a new machine needs: Python >= 3.11 with pip, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup run test lint bench picture docs clean

help:
	@echo "make run     set up, run the shipped sweeps, and print their answers"
	@echo "make test    set up and run all tests"
	@echo "make lint    check style and types"
	@echo "make bench   time the solvers against what one would use instead"
	@echo "make docs    run the gallery, and build the site; warnings are errors"
	@echo "make picture draw the picture of the README again"
	@echo "make clean   remove the environment and the answers"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "setting up $(VENV), once"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

run: setup
	$(BIN)/dicesweep run configs/monopoly_odds.yaml
	$(BIN)/dicesweep run configs/monopolies.yaml
	$(BIN)/dicesweep run configs/hidden_die.yaml

test: setup
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: setup
	@for file in benchmarks/[a-z]*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

picture: setup
	$(BIN)/python docs/picture.py

docs: setup
	$(BIN)/python docs/notebook.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) site outputs/*.zarr
