# Everything starts here: `make` prints what there is.
# Needs Python 3.11 with pip, and nothing else that is installed by hand.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
ENV    := .venv
BIN    := $(ENV)/bin

# Neither Kedro nor MLflow sends anything anywhere.
export DO_NOT_TRACK := true

.DEFAULT_GOAL := help
.PHONY: help install install-extras run test test-compiled test-spark lint format types viz ui bench lock clean

help: ## Show this help
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

# The lock is whole: pip installs it as it is. Resolving again would stumble over an extra
# such as `coverage[toml]`, of which pip takes the newest instead of the locked one.
install: $(ENV)/.installed ## Install the locked packages and Ridgeline into .venv

# The old marker goes first: an install that is interrupted starts again.
$(ENV)/.installed: requirements.lock pyproject.toml
	@rm -f $@
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { echo "Ridgeline needs Python 3.11 to 3.13, not '$(PYTHON)'. Name yours with: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(ENV)
	@echo "Installing into $(ENV): about 2 GB, a few minutes, once."
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

install-extras: $(ENV)/.installed-extras ## Install the extras too: spark, cluster, bench, docs

$(ENV)/.installed-extras: requirements-extras.lock $(ENV)/.installed
	@rm -f $@
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-extras.lock
	@touch $@

run: install ## Run the lendingclub pipeline on the embedded data
	$(BIN)/kedro run --pipeline lendingclub

# A file's tests run in one process, which makes what they share. The processes have the
# cores; threads within them would only wait for each other.
test: install ## Run the tests
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not spark"

test-compiled: install ## Test the algorithm as users' processes compile it
	XLA_FLAGS= $(BIN)/python -m pytest -n 2 --dist load tests/xnn/test_sos_bp.py tests/xnn/test_special_cases.py

test-spark: install-extras ## Run the Spark tests (needs Java 17)
	$(BIN)/python -m pytest -m spark

lint: install ## Check style and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

format: install ## Put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install ## Check the types
	$(BIN)/mypy

viz: install ## Browse the lineage in Kedro-Viz
	$(BIN)/kedro viz run

ui: install ## Open the MLflow pages on this machine
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false $(BIN)/mlflow ui --host 127.0.0.1 --backend-store-uri sqlite:///mlflow.db

bench: install ## Measure against peers, at reduced sizes
	$(BIN)/python benchmarks/ingestion.py
	$(BIN)/python benchmarks/training.py --quick
	$(BIN)/python benchmarks/lendingclub.py --scale 0.01 --skip ebm

lock: install ## Renew both lock files from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade --extra dev --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --all-extras --constraint requirements.lock --output-file requirements-extras.lock pyproject.toml

clean: ## Remove what was made of the data, runs and caches; keep .venv and your raw files
	find data -type f ! -name .gitkeep ! -path 'data/01_raw/accepted*' ! -path 'data/01_raw/rejected*' -delete
	find data -mindepth 1 -type d -empty -delete
	rm -rf mlflow.db mlartifacts .mypy_cache .ruff_cache .hypothesis build
