# One set of targets for people and for CI. Every recipe line is one command (macOS ships a make without .ONESHELL).
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables
.DEFAULT_GOAL := help

PYTHON ?= python3
PROFILE ?= quick
SEED ?=
RUNTIME ?=
VENDOR ?=
MEMORY_IMAGE ?=
RESUME ?=
RETAIL_STORE ?=
BASE_IMAGE ?=
TEST_ARGS ?=
LOCK_FLAGS ?=
OS ?=

VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
STAMP := $(VENV)/.memqual-setup

# orchestrator.images reads it; a run keeps one base image for all its images.
ifneq ($(BASE_IMAGE),)
export MEMQUAL_BASE_IMAGE := $(BASE_IMAGE)
endif

QUALIFY_FLAGS := --profile $(PROFILE) \
  $(if $(SEED),--seed $(SEED)) \
  $(if $(RUNTIME),--runtime $(RUNTIME)) \
  $(if $(VENDOR),--vendor $(VENDOR)) \
  $(if $(MEMORY_IMAGE),--memory-image $(MEMORY_IMAGE)) \
  $(if $(RETAIL_STORE),--retail-store $(RETAIL_STORE)) \
  $(if $(STORIES),--stories $(STORIES)) \
  $(if $(RESUME),--resume $(RESUME))

SEARCH_FLAGS := $(if $(SEED),--seed $(SEED)) \
  $(if $(RUNTIME),--runtime $(RUNTIME)) \
  $(if $(VENDOR),--vendor $(VENDOR)) \
  $(if $(MEMORY_IMAGE),--memory-image $(MEMORY_IMAGE))

# What needs no stack runs on every processor; local stacks run two at a time, as in a run.
UNIT := -n auto --dist loadfile -m "not nightly and not e2e_docker and not e2e_process"
BESIDE := -n 2 --dist loadfile -m "not nightly and shares_machine"
ALONE := -m "not nightly and (e2e_docker or e2e_process) and not shares_machine"

.PHONY: help
help: ## Show what can be made
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(STAMP) ## Make .venv with the locked dependencies (PYTHON=python3.12 uses another interpreter)

$(STAMP): requirements/dev.lock requirements/pip.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "memqual needs Python 3.11 or newer; choose one with: make setup PYTHON=/path/to/python3")'
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/pip.lock
	$(PY) -m pip install -qq --disable-pip-version-check --require-hashes --no-deps -r requirements/dev.lock
	$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	touch $(STAMP)

.PHONY: qualify
qualify: setup ## Qualify a memory: PROFILE= SEED= RUNTIME=docker|process VENDOR=vendor.yaml MEMORY_IMAGE=name:tag RETAIL_STORE=db.json STORIES=folder RESUME=run BASE_IMAGE=
	$(BIN)/memqual qualify $(QUALIFY_FLAGS)

.PHONY: test
test: setup images-if-engine ## Run every test but the nightly ones (TEST_ARGS= passes more to pytest)
	$(PY) -m pytest $(UNIT) $(TEST_ARGS)
	$(PY) -m pytest $(BESIDE) $(TEST_ARGS)
	$(PY) -m pytest $(ALONE) $(TEST_ARGS)

.PHONY: test-unit
test-unit: setup ## Run the tests that need no container and no local stack, on every processor
	$(PY) -m pytest $(UNIT) $(TEST_ARGS)

.PHONY: test-nightly
test-nightly: setup images-if-engine ## Run the long tests: every flaw of every rule, whole campaigns
	$(PY) -m pytest -n 2 --dist loadfile -m "nightly and not e2e_docker and (shares_machine or not e2e_process)" $(TEST_ARGS)
	$(PY) -m pytest -m "nightly and (e2e_docker or (e2e_process and not shares_machine))" $(TEST_ARGS)

.PHONY: lint
lint: setup check-protos check-tree ## Check style, types (three platforms), imports, the contract and its generated code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PY) -m mypy --platform linux --cache-dir .mypy_cache/linux
	$(PY) -m mypy --platform darwin --cache-dir .mypy_cache/darwin
	$(PY) -m mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint
	$(BIN)/buf breaking --against protos/baseline.binpb

.PHONY: format
format: setup ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: protos
protos: setup ## Regenerate the code beside the .proto files
	$(PY) -m tools.protos generate

.PHONY: check-protos
check-protos: setup ## Fail when generated code differs from what the .proto files give
	$(PY) -m tools.protos check

.PHONY: check-tree
check-tree: setup ## Fail when a tracked file names a registry's host or a path of one machine
	$(PY) -m tools.check_tree

.PHONY: search
search: setup ## Make up attacks on a memory and print the shortest that works: VENDOR= SEED= RUNTIME= MEMORY_IMAGE=
	$(BIN)/memqual search $(SEARCH_FLAGS)

.PHONY: explore
explore: setup ## Play random schedules of faults, shrink what breaks a rule: MINUTES= VENDOR= SEED= RUNTIME= MEMORY_IMAGE=
	$(BIN)/memqual explore $(SEARCH_FLAGS) $(if $(MINUTES),--minutes $(MINUTES))

.PHONY: baseline
baseline: setup ## Accept the contract as it is as the new baseline of `buf breaking`
	$(BIN)/buf build --as-file-descriptor-set -o protos/baseline.binpb

.PHONY: images
images: setup ## Build every image that is missing (BASE_IMAGE=name:tag in place of Debian packages)
	$(PY) -m orchestrator.images

.PHONY: images-if-engine
images-if-engine: setup
	$(PY) -m orchestrator.images --if-engine

.PHONY: lock
lock: setup ## Make the lock files anew (LOCK_FLAGS=--upgrade takes newer versions)
	$(PY) -m tools.lock $(LOCK_FLAGS)

.PHONY: bench
bench: setup ## Measure what DESIGN §11 names
	$(BIN)/memqual bench

.PHONY: gc
gc: setup ## Remove what a killed run left behind
	$(BIN)/memqual gc

.PHONY: doctor
doctor: setup ## Say what this machine can run and what it lacks
	$(BIN)/memqual doctor

.PHONY: clean
clean: ## Remove the environment, wheelhouses and caches; runs/ stays
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
