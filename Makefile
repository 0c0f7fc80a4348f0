# Everything here installs what it needs into .venv and nowhere else. CONTRIBUTING.md says what each target is for.
PYTHON ?= python3
SHARED ?= ../shared
VENV := .venv
BIN := $(VENV)/bin
# More than processors: many tests wait for programs, sockets and other processes.
JOBS ?= 3
# What is long is measured on large changes where they are at hand, and on the example in a plain clone.
EXAMPLE := examples/orders/change.diff
SMALL := $(or $(wildcard $(SHARED)/perf/diffs/small.diff),$(EXAMPLE))
LARGE := $(or $(wildcard $(SHARED)/perf/diffs/large.diff),$(EXAMPLE))
HUGE := $(wildcard $(SHARED)/perf/diffs/huge.diff)

# Compiled tests are kept: without them each worker of pytest rewrites the assertions of all files again, for 9 s.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: review test full lint types imports unit coverage pairs package acceptance emulate fuzz kill kill-app drill kill-writes browser bench offline second pushes calibrate trees symbols estimate limits quality perf statements lock clean

$(VENV)/run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "reviewbot needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/dev: $(VENV)/run
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

review: $(VENV)/run  ## review the example change, with no key
	@$(BIN)/reviewbot review $(EXAMPLE) --repo examples/orders/base

test: $(VENV)/dev  ## what a change has to pass; `make full` runs what takes longer as well
	@$(MAKE) --no-print-directory -j 2 lint imports types unit

full: test coverage pairs package

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

imports: $(VENV)/dev
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

coverage: $(VENV)/dev  ## the same tests with their branches counted, which takes half as long again
	HYPOTHESIS_PROFILE=house $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not packaging and not pairs" --cov --cov-report=term

pairs: $(VENV)/dev  ## each rule of each tool on code that is wrong and code that looks like it
	$(BIN)/python -m pytest -n $(JOBS) -m pairs tests/pairs

package: $(VENV)/dev
	$(BIN)/python -m pytest tests/packaging -m packaging -n 3

acceptance: $(VENV)/dev coverage pairs package  ## the coverage, and what needs the shared material
	SHARED=$(SHARED) PATH="$(CURDIR)/$(BIN):$$PATH" bash tests/acceptance.sh

emulate: $(VENV)/dev  ## --pr --post and the App, on a GitHub that others have made; installs Node and it from pip and npm, for the run alone
	@folder="$$(mktemp -d)"; trap 'rm -rf "$$folder"' EXIT; \
	$(BIN)/python -m tests.emulate_github --folder "$$folder" && $(BIN)/python -m tests.emulate_app --folder "$$folder"

fuzz: $(VENV)/dev  ## long: 1,000 random commits and 5,000 mutants, new seeds each time
	PATH="$(CURDIR)/$(BIN):$$PATH" bash tests/fuzz.sh
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -q -n $(JOBS) tests

kill: $(VENV)/dev  ## long: kill -9 at random points, 20 without and 30 with models, then --resume
	$(BIN)/python tests/kill_and_resume.py --diff $(LARGE)
	$(BIN)/python -m tests.kill_and_resume_model --diff $(or $(wildcard $(SHARED)/perf/diffs/medium.diff),$(EXAMPLE))

kill-writes: $(VENV)/dev  ## long: kill -9 before and behind each write to the host, on hosts/local and on the GitHub stand-in
	$(BIN)/python -m tests.kill_writes

kill-app: $(VENV)/dev  ## long: kill -9 of the App's workers and of its web process, 100 times each on SQLite and on Postgres
	$(BIN)/python -m tests.kill_jobs
	$(BIN)/python -m tests.kill_web
	$(BIN)/python -m benchmarks.app_capacity

drill: $(VENV)/dev  ## stop, back up, upgrade from an older commit, restore: reviews go on, on SQLite and on a Postgres of its own
	$(BIN)/python -m tests.upgrade_drill

bench: $(VENV)/dev  ## ratios of cost, best of five
	$(BIN)/python benchmarks/front.py $(HUGE)
	$(BIN)/python benchmarks/startup.py --diff $(SMALL)
	$(BIN)/python benchmarks/analyzers.py $(LARGE) $(HUGE)
	$(BIN)/python benchmarks/webhook_ack.py
	$(BIN)/python benchmarks/app_capacity.py
	$(BIN)/python -m benchmarks.pages

offline: $(VENV)/dev  ## a small review in an environment with nothing but the package, a large one with all linters, and each again
	@folder="$$(mktemp -d)"; trap 'rm -rf "$$folder"' EXIT; \
	$(PYTHON) -m venv "$$folder" && "$$folder/bin/python" -m pip install --quiet --disable-pip-version-check . && \
	{ $(BIN)/python benchmarks/analyzers.py --python "$$folder/bin/python" $(SMALL); small=$$?; $(BIN)/python benchmarks/analyzers.py $(LARGE) && exit $$small; }

second: $(VENV)/dev  ## a second offline review against the first, on the last commits and on labelled changes
	$(BIN)/python benchmarks/second_review.py --shared $(SHARED)

trees: $(VENV)/dev  ## long: 20 reviews at once of a repository of 300 MB, in time, memory and disk
	$(BIN)/python benchmarks/trees.py

symbols: $(VENV)/dev  ## long: look-ups of definitions against other tools; REPOSITORIES="folder folder ..." of git
	$(BIN)/python benchmarks/symbols.py $(foreach folder,$(or $(REPOSITORIES),.),--git $(folder))

estimate: $(VENV)/dev  ## what --estimate says of the labelled cases beside the repository
	$(BIN)/python benchmarks/estimate.py $(SHARED)/bench/cases

limits: $(VENV)/dev  ## long: peak memory and time of ten hostile changes, into docs/operations.md
	$(BIN)/python benchmarks/limits.py --write docs/operations.md

browser: $(VENV)/dev  ## /setup, the pages and the HTML report in a real browser; installs playwright, and Debian's chromium where there is none
	@command -v chromium > /dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null; } \
	  || { echo "there is no chromium, and apt-get cannot install it: install it, or run as root"; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright axe-playwright-python
	$(BIN)/python -m tests.browser_setup
	$(BIN)/python -m tests.browser_report
	$(BIN)/python -m tests.browser_pages

pushes: $(VENV)/dev  ## long: thirty pull requests with 150 pushes and a fake model: repeats, threads left open, tokens; into docs/performance.md
	$(BIN)/python -m benchmarks.pushes --write docs/performance.md

perf: $(VENV)/dev  ## long: wall, tokens and memory of reviews with a fake model, into docs/performance.md
	$(BIN)/python benchmarks/performance.py --measure $(SHARED)/perf/measure.py --write docs/performance.md

calibrate: $(VENV)/dev  ## long: how far each rule is trusted, counted again, and the tables of docs/quality.md
	$(BIN)/python benchmarks/quality.py --shared $(SHARED) --program $(BIN)/reviewbot --table reviewbot/data/calibration.toml --write docs/quality.md

quality: $(VENV)/dev  ## long: all labelled cases, into docs/quality.md
	$(BIN)/python benchmarks/quality.py --shared $(SHARED) --program $(BIN)/reviewbot --write docs/quality.md

statements: $(VENV)/dev  ## statements of the same features, now and at an earlier commit
	$(BIN)/python -m benchmarks.statements

lock:  ## the Action's locked requirements again, from the ranges of pyproject.toml
	requirements/lock.sh $(PYTHON)

clean:
	rm -rf $(VENV) .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
