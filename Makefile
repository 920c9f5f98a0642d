# Everything runs from a virtual environment that the first target makes; nothing else has to be installed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto

.PHONY: demo test lint bench clean

demo: $(STAMP)
	$(BIN)/antiphase demo

test: lint
	$(BIN)/pytest -q -n $(WORKERS)

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# Rebuilt when the dependencies change; the stamp appears only after a complete install.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "antiphase needs Python 3.11 or newer; run make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[triton,dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache
