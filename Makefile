# Everything runs from a virtual environment that the first target makes; nothing else has to be installed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto

.PHONY: demo test lint site browser bench clean

demo: $(STAMP)
	$(BIN)/antiphase demo

test: lint browser
	$(BIN)/pytest -q -n $(WORKERS)

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python

site: $(STAMP)
	$(BIN)/antiphase arch site dist/site

# The pages are tested in Debian's Chromium; where it cannot be installed those tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || \
	  echo "no Chromium here, and none could be installed: tests of pages in a browser are skipped"

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
