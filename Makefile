# Two commands: `make demo` and `make test`. Each sets up what it needs in .venv, from whatever state it finds.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint

demo: $(VENV)/.demo
	$(BIN)/python -m lops_adapters.conwea

test: $(VENV)/.dev
	$(BIN)/python -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# torch first and alone: another package's requirement would be met by whatever build the index prefers.
$(VENV)/.demo: setup.cfg constraints.txt | $(VENV)/bin/python
	$(INSTALL) "torch==2.13.0"
	$(INSTALL) --editable ".[conwea]"
	touch $@

$(VENV)/.dev: setup.cfg constraints.txt | $(VENV)/bin/python
	$(INSTALL) "torch==2.13.0"
	$(INSTALL) --editable ".[dev]"
	touch $@
