# `make` alone: measure on whatever device there is, draw the figures, build the site into site/dist.
# `make help` lists the rest. Needs make and Python 3.11 or newer; everything else is installed inside this folder.
SHELL := /bin/sh
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# What a person may set: make PYTHON=python3.12, make data SIZE=full IMPL=fused, make report FILE=data/cpu/memory_timelines.json
PYTHON ?= python3
# VENV= (empty) installs nothing and uses PYTHON's own packages, for a machine without a network.
VENV ?= .venv
SIZE ?=
IMPL ?=
FILE ?= data/memory_timelines.json

export PYTHON
export ASTRO_TELEMETRY_DISABLED := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# A stamp's date says when a job was last done. Those of installed things lie inside them, so that they go with them.
STAMPS := .make
PIP_DONE := $(if $(VENV),$(VENV)/.installed)
PEERS_DONE := $(if $(VENV),$(VENV)/.installed-peers)
NPM_DONE := site/node_modules/.package-lock.json
MEASURED := $(STAMPS)/measured$(if $(SIZE),-$(SIZE))$(if $(IMPL),-$(IMPL))
FIGURES_DONE := $(STAMPS)/figures
SITE_DONE := $(STAMPS)/site
# Holds the settings that the built site depends on; its date changes only when they do.
SITE_SETTINGS := $(STAMPS)/site-settings

RUN_PYTHON := $(if $(VENV),$(VENV)/bin/python,$(PYTHON))
BIN := $(if $(VENV),$(VENV)/bin/)
TIMELINES := $(if $(VENV),$(VENV)/bin/timelines,PYTHONPATH=experiments $(PYTHON) -m timelines)
# Starts a command in site/ with a Node that it can use.
IN_SITE = dir=$$(scripts/node-env.sh) && PATH="$${dir:+$$dir:}$$PATH" && export PATH && cd site &&

PYTHON_SOURCES := $(wildcard experiments/*.py experiments/timelines/*.py experiments/workloads/*.py)
FIGURE_SOURCES := $(wildcard scripts/figures.py scripts/plot.py experiments/timelines/c*.py) \
                  data/palette.json data/memory_timelines.schema.json
# The built pages change with any of these. Names with blanks would break make, and there are none.
SITE_SOURCES := $(shell find site -type d \( -name node_modules -o -name dist -o -name .astro -o -name tests \
                  -o -name test-results -o -name figures \) -prune -o -type f -print 2>/dev/null) \
                $(wildcard data/*.json data/*/*.json data/*/*/*.json experiments/backprop.py)

.PHONY: all help setup data bench gpu plans figures report site dev preview test test-python test-site \
        check check-python check-site format clean distclean FORCE

all: ## measure, draw the figures, build the site (the default)
	@$(MAKE) $(MEASURED)
	@$(MAKE) site
	@echo "The site is in site/dist; 'make preview' shows it."

help: ## list the targets
	@echo "usage: make [TARGET] [PYTHON=python3] [SIZE=full|quick] [IMPL=for-loop|foreach|fused] [FILE=a memory_timelines.json]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# ---- what is installed, and only inside this folder

setup: $(PIP_DONE) $(NPM_DONE) ## install the Python and Node packages (.venv, site/node_modules)

$(VENV)/.installed: experiments/pyproject.toml experiments/requirements.lock scripts/python-env.sh
	@scripts/python-env.sh "$(VENV)"
	@touch $@

$(VENV)/.installed-peers: $(VENV)/.installed
	@echo "setup: installing the benchmark's peers into $(notdir $(VENV))"
	@$(RUN_PYTHON) -m pip install --quiet --no-input -c experiments/requirements.lock -e 'experiments[peers]'
	@touch $@

$(NPM_DONE): site/package.json site/package-lock.json
	@$(IN_SITE) npm ci --no-audit --no-fund
	@touch $@

# ---- measure, draw, build

data: ## measure both modes again; SIZE=full for the real size without a GPU
	@rm -f $(MEASURED)
	@$(MAKE) $(MEASURED)

$(MEASURED): $(PIP_DONE) $(PYTHON_SOURCES)
ifeq ($(VENV),)
	@$(PYTHON) -c 'import torch, rich, typer' 2>/dev/null || { \
	  echo "data: $(PYTHON) lacks torch, rich or typer; with torch alone, measure by: $(PYTHON) experiments/backprop.py OUT" >&2; \
	  exit 2; }
endif
	$(TIMELINES) run $(if $(SIZE),--size $(SIZE)) $(if $(IMPL),--optimizer-impl $(IMPL))
	@mkdir -p $(@D) && touch $@

bench: $(PIP_DONE) $(PEERS_DONE) ## race BackProp against the plain loop and others; files data/benchmarks
	$(TIMELINES) bench

gpu: $(PIP_DONE) $(PEERS_DONE) ## all that needs a GPU: headline in three ways, 8.3 billion parameters, benchmark in bfloat16
	$(TIMELINES) run --device cuda
	$(TIMELINES) run --device cuda --optimizer-impl foreach
	$(TIMELINES) run --device cuda --optimizer-impl fused
	$(TIMELINES) measure megatron-8.3b --device cuda --optimizer-impl foreach --out data/cuda/megatron-8.3b.json
	$(TIMELINES) bench

# A checkout has this file. Where it was deleted, measuring makes it anew.
data/memory_timelines.json: | $(PIP_DONE)
	@$(MAKE) data

plans: $(PIP_DONE) ## predict the models in data/plans again, without a GPU
	$(TIMELINES) plans

figures: $(FIGURES_DONE) ## draw the plots from the data

$(FIGURES_DONE): $(PIP_DONE) data/memory_timelines.json $(FIGURE_SOURCES)
	$(RUN_PYTHON) scripts/figures.py
	@mkdir -p $(@D) && touch $@

report: $(PIP_DONE) data/memory_timelines.json ## one HTML file from FILE, beside it
	$(RUN_PYTHON) scripts/report.py "$(FILE)"

site: $(SITE_DONE) ## build the site into site/dist

$(SITE_SETTINGS): FORCE
	@mkdir -p $(@D)
	@settings="$(SITE_BASE) $(SITE_URL) $(SITE_REPOSITORY)"; echo "$$settings" | cmp -s - $@ || echo "$$settings" > $@

# The script `build` passes --force: Astro's content cache would otherwise hide that the data changed or went missing.
$(SITE_DONE): $(NPM_DONE) $(FIGURES_DONE) $(SITE_SETTINGS) $(SITE_SOURCES)
	@$(IN_SITE) npm run build
	@mkdir -p $(@D) && touch $@

dev: $(NPM_DONE) $(FIGURES_DONE) ## serve the site, following every change
	@$(IN_SITE) npm run dev

preview: $(SITE_DONE) ## serve site/dist as it will be published
	@$(IN_SITE) npm run preview

# ---- tests; the two halves share nothing, so `make -j2 test` runs them side by side

test: test-python test-site ## everything: linters, types, unit tests, the built site in a browser
check: check-python check-site ## linters, formatters and types only

# pyright needs a Node as well.
check-python: $(PIP_DONE) $(NPM_DONE)
	$(BIN)ruff check experiments scripts
	$(BIN)ruff format --check experiments scripts
	@dir=$$(scripts/node-env.sh) && PATH="$${dir:+$$dir:}$$PATH" && export PATH && \
	  echo "pyright" && PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)pyright --project experiments --pythonpath $$(command -v $(RUN_PYTHON))

test-python: check-python
	$(BIN)pytest -c experiments/pyproject.toml experiments/tests scripts/tests

# One after the other: check, unit tests and build all write site/.astro.
check-site: $(NPM_DONE)
	@$(IN_SITE) npm run check

test-site: check-site
	@$(IN_SITE) npm test
	@$(MAKE) site
	@scripts/chromium.sh
	@$(IN_SITE) npm run e2e

format: setup ## rewrite Python and site sources in the agreed format
	$(BIN)ruff check --fix --exit-zero --quiet experiments scripts
	$(BIN)ruff format experiments scripts
	@$(IN_SITE) npm run format

clean: ## remove what was built: dist, caches, reports, quick measurements
	rm -rf $(STAMPS) site/dist site/.astro site/test-results data/quick
	find data -name report.html -exec rm -f {} +
	find experiments scripts \( -name __pycache__ -o -name .pytest_cache -o -name .ruff_cache -o -name build \) -prune -exec rm -rf {} +
	rm -rf .ruff_cache .pytest_cache

distclean: clean ## remove what was installed too: .venv, .node, node_modules
	rm -rf .venv .node site/node_modules experiments/*.egg-info
