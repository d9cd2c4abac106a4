# Everything a newcomer needs: `make up`, `make demo`, `make test`. Works with GNU make 3.81 on.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# Credentials and addresses of real parties: taken out of the environment where none may be used.
NO_CREDENTIALS = env $$(env | awk -F= '/^(AVAL|ANTHROPIC|TEMPORAL)_[A-Za-z0-9_]*=/ {print "-u " $$1}')

.DEFAULT_GOAL := help
.PHONY: help up demo live test lint fmt clean

help: ## show this list
	@awk -F': ## ' '/^[a-z]+: ## |^[a-z]+: .* ## / {split($$1, name, ":"); sub(/.*## /, ""); printf "  make %-6s %s\n", name[1], $$0}' $(MAKEFILE_LIST)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Aval needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

up: $(STAMP) ## start everything on this machine; Ctrl-C stops it, the data stays in .data/
	@$(BIN)/aval up

demo: $(STAMP) ## a scripted conversation on a throw-away stack; uses no credentials, ends by itself
	@$(BIN)/aval demo

live: $(STAMP) ## the demo and more against the real model; costs money, needs ANTHROPIC_API_KEY
	@$(BIN)/aval live

test: $(STAMP) ## all checks and tests; uses no credentials
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(NO_CREDENTIALS) $(BIN)/pytest -n 3 --dist loadfile

lint: $(STAMP) ## the checks without the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: $(STAMP) ## format the code, and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove .venv and the caches; the data in .data/ stays
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info

RUNS ?= 200
SEED ?= 1
GATEWAY ?= pagarme
.PHONY: chaos
chaos: $(STAMP) ## random faults against real processes, counted at the far side (RUNS=200 SEED=1 GATEWAY=pagarme)
	@$(NO_CREDENTIALS) $(BIN)/python -m tests.chaos.run --runs $(RUNS) --seed $(SEED) --gateway $(GATEWAY)
