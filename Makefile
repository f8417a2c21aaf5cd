# make check is what CI runs. It needs Python 3.10 or newer, git and make; the rest goes into .venv-dev, once.
# Another Python: make check PYTHON=python3.12. An environment of your own: VAULT_EVAL_DEV_PYTHON=/path/to/python.

PYTHON ?= python3
SHELL := /bin/sh
DEV := $(or $(VAULT_EVAL_DEV_PYTHON),.venv-dev/bin/python)
LAYERS := PYTHONPATH=scripts $(DEV) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
COMPILE := UV_PYTHON_DOWNLOADS=never $(DEV) -m uv pip compile pyproject.toml --quiet --no-config --universal --upgrade \
	--generate-hashes --python-version 3.10 --no-annotate --custom-compile-command 'make lock'

.PHONY: help check style types layers test faults fuzz format lock environment clean
.NOTPARALLEL:

help: ## what each target does
	@sed -n 's/^\([a-z]*\):.*## /  make \1: /p' Makefile

check: style types layers test ## everything that CI runs

style: environment ## ruff, both as linter and as formatter
	@echo '==> ruff check'
	@$(DEV) -m ruff check .
	@echo '==> ruff format --check'
	@$(DEV) -m ruff format --check .

types: environment ## mypy, strict
	@echo '==> mypy --strict'
	@$(DEV) -m mypy

layers: environment ## which module may import which
	@echo '==> import-linter'
	@$(LAYERS)

test: environment ## all tests; make test ARGS='-k labels' for some
	@echo '==> pytest'
	@$(DEV) -m pytest $(ARGS)

faults: environment ## inject faults into index, report and evaluation, and count what was lost; about four minutes
	@$(DEV) benchmarks/faults.py $(ARGS)

fuzz: environment ## random input through the real commands; make fuzz ARGS='--seconds 3600'
	@$(DEV) benchmarks/fuzz.py $(ARGS)

format: environment ## let ruff rewrite what it can
	@$(DEV) -m ruff check --fix-only .
	@$(DEV) -m ruff format .

lock: environment ## resolve pyproject.toml again into requirements/
	$(COMPILE) --output-file requirements/runtime.txt
	$(COMPILE) --extra dev --output-file requirements/dev.txt

environment:
ifndef VAULT_EVAL_DEV_PYTHON
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo 'make: $(PYTHON) is missing or older than 3.10; try make check PYTHON=python3.12' >&2; exit 2; }
	@wanted=$$($(PYTHON) -c 'import hashlib, sys; print(hashlib.sha256(open("requirements/dev.txt", "rb").read()).hexdigest(), sys.version)') && \
	if [ "$$(cat .venv-dev/built-from 2>/dev/null)" != "$$wanted" ]; then \
		echo '==> building .venv-dev from requirements/dev.txt (once, a minute or two)' && \
		rm -rf .venv-dev && \
		{ $(PYTHON) -m venv .venv-dev || { echo 'make: $(PYTHON) -m venv failed; on Debian install python3-venv' >&2; exit 2; }; } && \
		{ .venv-dev/bin/python -m pip install --disable-pip-version-check --no-input --progress-bar off --require-hashes --no-deps \
			-r requirements/dev.txt || { echo 'make: pip failed, see above; it needs the network this once' >&2; exit 2; }; } && \
		echo "$$wanted" > .venv-dev/built-from; \
	fi
endif

clean: ## remove what the checks left behind
	rm -rf .venv-dev .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
