PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
SEEDS ?= 1000
TIMES ?= 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test core simulate plant cost bench latency torture e2e clients pictures lint

help: ## Show this help
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

run: $(VENV)/run.stamp ## Serve on 127.0.0.1:$PORT (8000); the first run adds a demo project
	@$(BIN)/flask migrate
	@if [ -n "$$($(BIN)/flask projects list | tail -n +2)" ]; then \
		echo "Keys: $(BIN)/flask keys list; a new one: $(BIN)/flask keys create"; \
	else \
		key=$$($(BIN)/flask demo) && \
		echo "Try it:" && \
		echo "  curl -H 'Authorization: Bearer $$key' http://127.0.0.1:$(PORT)/v1/pets"; \
	fi
	@echo "API reference: http://127.0.0.1:$(PORT)/docs"
	@echo "Dashboard:     http://127.0.0.1:$(PORT)/dashboard (sign in with the key)"
	@PORT=$(PORT) exec $(BIN)/gunicorn $$(test -t 2 && echo --log-level=warning) --bind 127.0.0.1:$(PORT) wsgi:app

# The tests start many processes, which would each compile the code again without the
# bytecode that this variable forbids to write.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/test.stamp ## Run all tests against SQLite, PostgreSQL and Redis
	$(BIN)/pytest --numprocesses=3 --dist=loadfile --no-loadscope-reorder

core: $(VENV)/test.stamp ## Delete all extensions in a copy and try the core, then each of them alone
	$(BIN)/python -m tests.together.core

cost: $(VENV)/test.stamp ## Count what a request costs (needs valgrind, strace and nginx with Lua)
	$(BIN)/python -m benchmarks.cost

bench: $(VENV)/bench.stamp ## Compare the throughput to the same job by hand (needs wrk)
	PYTHONPATH=$(VENV)/bench $(BIN)/python -m benchmarks.bench

latency: $(VENV)/test.stamp ## Measure latency and processor time at given rates (needs wrk)
	$(BIN)/python -m benchmarks.latency

simulate: $(VENV)/test.stamp ## Run the service in simulated time, on $SEEDS seeds (1000)
	$(BIN)/python -m tests.together.simulation $(SEEDS) --processes=2

plant: $(VENV)/test.stamp ## Plant bugs to see whether the simulation finds them
	$(BIN)/python -m tests.together.simulation.plant

torture: $(VENV)/test.stamp ## Run the fault injection campaigns (TIMES=30: an hour)
	TIMES=$(TIMES) $(BIN)/pytest tests/together/torture tests/together/test_all_routes.py

DEBIAN_PACKAGES := buildah chromium caddy curl etcd-server firefox-esr haproxy \
	libreoffice-calc-nogui mmdebstrap nginx-light patroni pebble pgbouncer postgresql \
	prometheus redis-server systemd

e2e: $(VENV)/e2e.stamp $(VENV)/before.stamp ## Run the end-to-end tests: browser, proxies, platform
	@for program in buildah chromium caddy curl etcd firefox-esr haproxy mmdebstrap nginx \
		patroni pebble pebble-challtestsrv pgbouncer promtool redis-server soffice systemd-analyze; do \
		command -v $$program > /dev/null || \
			{ echo "$$program is missing: apt-get install $(DEBIAN_PACKAGES)"; exit 1; }; \
	done
	@$(MAKE) --no-print-directory $(VENV)/image/wheels.stamp
	$(BIN)/pytest tests/together/e2e --numprocesses=2 --dist=loadfile

CLIENT_PACKAGES := default-jdk-headless golang-go libgeronimo-annotation-1.3-spec-java \
	php-cli php-curl php-guzzlehttp-guzzle php-mbstring ruby-typhoeus

clients: $(VENV)/clients.stamp ## Generate clients in six languages, and let each read a list
	@for program in go javac php ruby; do \
		command -v $$program > /dev/null || \
			{ echo "$$program is missing: apt-get install $(CLIENT_PACKAGES)"; exit 1; }; \
	done
	$(BIN)/pytest tests/together/clients --numprocesses=2 --dist=load

pictures: $(VENV)/e2e.stamp ## Take the pictures of the documentation, in docs/images
	$(BIN)/python -m tests.together.pictures

lint: $(VENV)/test.stamp ## Check formatting, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: requirements.txt | $(BIN)/python
	@echo "Installing the $$(grep -c == requirements.txt) packages of requirements.txt" \
		"into $(VENV); this takes up to a minute, once ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

# Node.js 20.19 or newer is needed, with npm.
$(VENV)/e2e.stamp: $(VENV)/test.stamp tests/requirements-e2e.txt tests/together/e2e/package.json
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/requirements-e2e.txt
	@mkdir -p $(VENV)/node && cp tests/together/e2e/package.json $(VENV)/node
	npm install --prefix $(VENV)/node --no-package-lock --ignore-scripts --no-audit --no-fund
	@touch $@

$(VENV)/clients.stamp: $(VENV)/e2e.stamp tests/requirements-clients.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/requirements-clients.txt
	@touch $@

ROOM := from tests.together.e2e.containers import directory_with_room as room; print(room())

# What the container image is built of without a registry: Debian's Python instead of
# the delivered base, and the wheels for it. This needs root.
$(VENV)/image/base.tar: | $(BIN)/python
	@mkdir -p $(@D)
	TMPDIR=$$($(BIN)/python -c '$(ROOM)') mmdebstrap --quiet --variant=essential \
		--include=usr-is-merged,libstdc++6,python3-venv \
		--hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr --dpkgopt=force-unsafe-io \
		$(foreach kind,doc locale man,--dpkgopt='path-exclude=/usr/share/$(kind)/*') \
		$$(. /etc/os-release && echo $$VERSION_CODENAME) $@

$(VENV)/image/wheels.stamp: deploy/requirements.hashed.txt $(VENV)/image/base.tar | $(BIN)/python
	rm -rf $(@D)/wheels
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --only-binary=:all: \
		--python-version=$$(tar --list --file=$(@D)/base.tar | sed -n 's/.*bin\/python\(3[.][0-9]*\)$$/\1/p') \
		--require-hashes --requirement=$< --dest=$(@D)/wheels
	@touch $@

# The release before this one, for the test of upgrades: its files from the history, and
# a virtual environment with what it requires.
$(VENV)/before.stamp: CHANGELOG.md | $(BIN)/python
	@commit=$$($(BIN)/python -m tests.harness.releases) && \
	if [ "$$commit" != "$$(cat $(VENV)/before/commit 2> /dev/null)" ]; then \
		rm -rf $(VENV)/before && mkdir $(VENV)/before && \
		git archive "$$commit" | tar --extract --directory $(VENV)/before && \
		$(BIN)/python -m venv $(VENV)/before/.venv && \
		$(VENV)/before/.venv/bin/python -m pip install --quiet \
			--disable-pip-version-check -r $(VENV)/before/requirements.txt && \
		$(VENV)/before/.venv/bin/python -m compileall -q $(VENV)/before && \
		echo "$$commit" > $(VENV)/before/commit; \
	fi
	@touch $@

# Other frameworks, and gunicorn's parser in C: in a directory of their own, since the
# tests use the parser in Python.
$(VENV)/bench.stamp: $(VENV)/test.stamp benchmarks/yardsticks/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --target=$(VENV)/bench \
		-c requirements.txt -r benchmarks/yardsticks/requirements.txt
	@touch $@

$(VENV)/test.stamp: requirements.txt tests/requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@
