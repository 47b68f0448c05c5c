# Everything sets itself up: Python >= 3.11, make and a package index are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run serve docs test test-slow test-all test-torch test-peers lint check audit format openapi lock clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make the virtual environment and install what the lock names

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "XeTune needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up $(VENV) (about 2.8 GB, a minute or two) ..."
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

run: $(READY) ## Tune a real problem on whatever this machine has
	@$(BIN)/xetune tune --m 512 --n 384 --k 1024 --dtype f16 --device auto --trials 20

serve: $(READY) ## Start the service and its worker on http://127.0.0.1:8752
	@$(BIN)/xetune serve

# Beside what the program needs, so that nothing else waits for it.
DOCS := $(VENV)/docs

docs: $(READY) $(DOCS)/.ready ## Build the documentation site in build/site; warnings are errors
	@$(BIN)/python -m docs.site.build build/docs
	@$(DOCS)/bin/zensical build --clean --strict

$(DOCS)/.ready: requirements-docs.lock
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@

# A worker a processor, eight at most: each may start a PostgreSQL, a browser and compile workers of its own.
PYTEST := $(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist worksteal
ROOM ?=
SECONDS ?=
TESTS = $(if $(SECONDS),--seconds $(SECONDS)) tests/$(ROOM)

test: $(READY) ## All tests but the slow ones; of one room: make test ROOM=codegen/cpu
	@$(PYTEST) -m "not slow and not gpu" $(TESTS)

test-slow: $(READY) ## The slow tests; make test-slow SECONDS=300 begins none after that time
	@$(PYTEST) -m "slow and not gpu" $(TESTS)

test-all: $(READY) ## Everything, slow tests too
	@$(PYTEST) $(TESTS)

# Beside .venv, whose packages it has too: torch takes about 4 GB.
TORCH := .venv-torch

test-torch: $(READY) ## The tests of xetune_torch, slow ones too, in an environment with PyTorch (about 4 GB)
	@test -e $(TORCH)/.ready || { echo "Setting up $(TORCH) (about 4 GB) ..." && $(PYTHON) -m venv $(TORCH) && \
	  $(TORCH)/bin/python -m pip install -qq --disable-pip-version-check 'torch>=2.15' && \
	  echo "import site; site.addsitedir('$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')')" \
	  > "$$($(TORCH)/bin/python -c 'import site; print(site.getsitepackages()[0])')/xetune.pth" && touch $(TORCH)/.ready; } || \
	  echo "PyTorch cannot be installed here: the tests of xetune_torch are left out"
	@! test -e $(TORCH)/.ready || $(TORCH)/bin/python -m pytest --numprocesses logical --maxprocesses 4 --dist worksteal \
	  -m "not gpu" $(if $(SECONDS),--seconds $(SECONDS)) tests/xetune_torch

# What tests compare with: as it is, or with what it needs. Unpacked beside .venv; TEST_PEERS names other folders like PATH.
PEERS := .venv-peers
PEERS_ALONE := vllm-xpu-kernels==0.1.16.2 vllm==0.33.0 sglang==0.5.23 grafana-foundation-sdk==0.0.21
PEERS_WHOLE := kernel-tuner==1.5.0 triton==3.9.0

test-peers: $(READY) ## The tests with packages of others: kernels for x-ray, tuners, Grafana (about 4 GB)
	@test -e $(PEERS)/.ready || { echo "Setting up $(PEERS) (about 4 GB) ..." && \
	  $(BIN)/python -m pip install -qq --disable-pip-version-check --target $(PEERS) $(PEERS_WHOLE) && \
	  $(BIN)/python -m pip install -qq --disable-pip-version-check --target $(PEERS) --no-deps --only-binary :all: \
	  $(PEERS_ALONE) && touch $(PEERS)/.ready; } || echo "some packages cannot be installed here: their tests are skipped"
	@TEST_PEERS=$${TEST_PEERS:-$(CURDIR)/$(PEERS)} $(PYTEST) -m "not gpu" tests/xetune_client/tuners \
	  tests/service/cli/compiler/inspection/test_xray.py tests/docker/test_grafana.py

lint: $(READY) ## Format, lint, types and import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

check: lint test ## Format, lint, types, import contracts and tests

AUDIT := $(VENV)/audit

audit: $(READY) ## Look the locked dependencies up in the advisory database; skipped where it cannot be reached
	@test -x $(AUDIT)/bin/pip-audit || { $(PYTHON) -m venv $(AUDIT) && $(AUDIT)/bin/pip install -qq --disable-pip-version-check \
	  pip-audit; } || echo "pip-audit cannot be installed here"
	@$(AUDIT)/bin/python .ci/audit.py

format: $(READY) ## Format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

openapi: $(READY) ## Write openapi.yaml from the application
	@$(BIN)/python -m service.openapi --write

LOCK := --quiet --generate-hashes --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header \
  --strip-extras --allow-unsafe

SERVICE := --extra build --extra traces --extra cluster --extra xray
WORKER := $(SERVICE) --extra opencl-cpu --extra level-zero

lock: $(READY) ## Resolve the locks anew: development, worker, service, the list of contents, the site
	@$(BIN)/python -m pip install --quiet pip-tools
	@$(BIN)/pip-compile $(LOCK) $(WORKER) --extra dev --output-file requirements.lock pyproject.toml
	@cp requirements.lock requirements-run.lock  # versions are kept where a lock exists
	@cp requirements.lock requirements-service.lock
	@$(BIN)/pip-compile $(LOCK) $(WORKER) --output-file requirements-run.lock pyproject.toml
	@$(BIN)/pip-compile $(LOCK) $(SERVICE) --output-file requirements-service.lock pyproject.toml
	@$(BIN)/pip-compile $(LOCK) --output-file docker/sbom.lock docker/sbom.in
	@$(BIN)/pip-compile $(LOCK) --output-file requirements-docs.lock docs/site/requirements.in

clean: ## Remove the virtual environment and caches
	@rm -rf $(VENV) $(TORCH) $(PEERS) .pytest_cache .ruff_cache .import_linter_cache
