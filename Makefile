# Everything that is built, checked or run in this repository. "make" alone lists the targets.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
BIN ?= bin
OUTPUT ?= _output
# What git calls this tree; release builds and trees without git set it.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
VERSION := $(VERSION)
# Packages of test, lint and bench: make test PACKAGES=./pkg/locality/...
PACKAGES ?= ./...
TEST_FLAGS ?=
DEMO_ARGS ?=
BENCH_COUNT ?= 6
BENCH_TIME ?= 1s
FUZZ_RUNS ?= 8000
IMAGE_PREFIX ?= vicinity
IMAGE_FLAGS ?=
DOCKER ?= docker

# Static binaries, and one build cache for binaries, tests and linters. No -trimpath for the same reason.
export CGO_ENABLED := 0
export GO BIN OUTPUT VERSION BENCH_COUNT BENCH_TIME FUZZ_RUNS IMAGE_PREFIX IMAGE_FLAGS DOCKER

DAEMONS := scheduler controller agent sniffer
PROGRAMS := $(DAEMONS:%=$(BIN)/vicinity-%) $(BIN)/vicinity
GO_BUILD = $(GO) build -buildvcs=false -ldflags "$$(hack/ldflags.sh $(notdir $@))" -o $@
GOLANGCI = $(GO) tool -modfile=hack/tools/lint/go.mod golangci-lint-kube-api-linter run --timeout 30m
LOGCHECK = $(GO) tool -modfile=hack/tools/go.mod logcheck

##@ Use

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: $(PROGRAMS) $(BIN)/kubectl $(BIN)/kubectl-vicinity ## build all programs into bin/, the control plane into the user's cache

.PHONY: demo
demo: $(PROGRAMS) ## run the scenarios on a local control plane (DEMO_ARGS="cacheaware/gateway-node --keep")
	@$(BIN)/vicinity demo $(DEMO_ARGS)

.PHONY: test
test: test-unit test-race test-fuzz ## run all tests: unit, integration, race detector, a short fuzz

##@ Develop

.PHONY: test-unit
test-unit: build ## unit and integration tests (PACKAGES=./pkg/locality/... TEST_FLAGS="-run X -v")
	PATH="$(abspath $(BIN)):$$PATH" $(GO) test -timeout 20m $(TEST_FLAGS) $(PACKAGES)

.PHONY: test-race
test-race: ## the race detector over the packages that do not need all of Kubernetes
	@hack/test-race.sh $(PACKAGES)

.PHONY: test-fuzz
test-fuzz: ## each fuzz target with FUZZ_RUNS inputs, fewer when there are many
	@hack/test-fuzz.sh

.PHONY: bench
bench: ## all benchmarks, BENCH_COUNT times BENCH_TIME, into _output/bench/*.json
	@hack/bench.sh

.PHONY: bench-quick
bench-quick: ## all benchmarks once, only to see that they run
	@BENCH_COUNT=1 BENCH_TIME=10ms hack/bench.sh

.PHONY: bench-simulator
bench-simulator: ## the simulator's speed, and its results beside the published ones (needs ../shared/data/openb)
	$(GO) test ./pkg/simulator -run '^$$' -bench BenchmarkRun -benchtime 5x
	VICINITY_PUBLISHED=1 $(GO) test ./pkg/simulator -run TestPublished -count 1 -timeout 60m -v

.PHONY: bench-mlp
bench-mlp: ## what MLPScore takes, beside PyTorch and the predecessor's way over HTTP (python3-torch and -flask, optional)
	@hack/bench-mlp.sh

.PHONY: bench-sniffer
bench-sniffer: ## what the decision service promises: ingest, a million records, first paint (takes ten minutes)
	BENCH_RECORDS=1000000 $(GO) test ./pkg/decisions/store -run '^$$' -bench . -benchtime 300x -timeout 1h
	$(GO) test ./pkg/decisions/web -run '^$$' -bench . -benchtime 10x -timeout 20m

.PHONY: generate
generate: ## write all generated files anew
	@hack/generate.sh

.PHONY: lint
lint: ## run all linters
	@$(MAKE) --no-print-directory --keep-going lint-go lint-api lint-logs

.PHONY: lint-go
lint-go: # bugs, style and sizes
	$(GOLANGCI) --config .golangci.yaml $(PACKAGES)

.PHONY: lint-api
lint-api: # the API conventions, for our own kinds
	$(GOLANGCI) --config .golangci-api.yaml ./apis/vicinity/...

.PHONY: lint-logs
lint-logs: # structured, contextual logging only
	$(LOGCHECK) -check-contextual $(PACKAGES)

.PHONY: format
format: ## format the Go files
	$(GO) tool -modfile=hack/tools/lint/go.mod golangci-lint-kube-api-linter fmt --config .golangci.yaml

.PHONY: verify
verify: ## check that generated files, module files and style are as they should be
	@hack/verify.sh

.PHONY: build-all-arch
build-all-arch: ## compile all programs for linux/amd64 and linux/arm64, keep none
	@for arch in amd64 arm64; do echo "linux/$$arch"; GOOS=linux GOARCH=$$arch $(GO) build ./cmd/...; done

.PHONY: image
image: ## build a container image of each program (IMAGE_PREFIX, IMAGE_FLAGS="--build-arg BASE_IMAGE=...")
	@hack/image.sh $(DAEMONS:%=vicinity-%) vicinity

.PHONY: clean
clean: ## remove what this Makefile writes; Go's caches and the control plane's stay
	rm -rf $(BIN) $(OUTPUT)

# The programs depend on nothing here: go build knows what is up to date. Progress goes to stderr, so that stdout is the
# demo's result and nothing else.
.PHONY: always
$(BIN)/vicinity-%: always
	@echo "building $@" >&2
	@$(GO_BUILD) ./cmd/$*

$(BIN)/vicinity: always
	@echo "building $@" >&2
	@$(GO_BUILD) ./cmd/vicinity

$(BIN)/kubectl: $(BIN)/vicinity
	@$(BIN)/vicinity controlplane build --kubectl-out $@ >&2

# With bin/ in PATH, "kubectl vicinity ..." is the same as "vicinity ...".
$(BIN)/kubectl-vicinity: $(BIN)/vicinity
	@ln -sf vicinity $@
