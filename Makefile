# All development, CI and deployment tasks of devplatform. `make` without a target lists them.
# They need Go, git and make. A target that needs other tools says so.

SHELL       := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

ARCH        ?= arm64
ENV         ?= dev
AWS_PORT    ?= 4566
FUZZTIME    ?= 60s
BUILD       := .build
LOCAL       := $(BUILD)/local
# The port of the local platform, and the URL of the platform that `make demo` uses.
PORT        ?= 3000
URL         ?= http://localhost:$(PORT)
FUNCTIONS   := $(notdir $(wildcard functions/*))
DOCUMENT    := shared/docs/openapi.json

# `make build`, `make run` and `sam build` use the same flags. A flag must not contain a space, because GOFLAGS is split
# at spaces.
BUILD_FLAGS := -trimpath -tags=lambda.norpc -ldflags=-s
# The race detector needs a C compiler. Without one, `make test` prints a notice and runs without the race detector.
RACE        := $(if $(shell command -v $${CC:-cc} 2>/dev/null),-race,)
# A separate module pins the tools and their dependencies.
TOOLS       := infra/tools/go.mod
LINT        := go tool -modfile=$(TOOLS) golangci-lint
DEADCODE    := go tool -modfile=$(TOOLS) deadcode

# Binaries are built without cgo, so that they are the same on every machine.
GO_BUILD    := CGO_ENABLED=0 go build $(BUILD_FLAGS)

# The list contains the targets whose comment begins with ##. Other targets are steps of these targets.
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Settings of the local platform only. The environment of the caller takes precedence.
run: export COOKIE_PLAIN_HTTP     ?= true
run: export WEBHOOK_ALLOW_PRIVATE ?= true
run: export LIMIT_LOGIN_IP        ?= 10000
run: export LIMIT_SIGNUP_IP       ?= 10000
run: export LIMIT_OAUTH_IP        ?= 10000
run: export AI_PROVIDER           ?= scaffold
run: export AI_MODEL              ?=
.PHONY: run
run: binaries ## start the platform: http://localhost:3000 (settings: shared/config/README.md)
	@$(if $(filter-out 0,$(PORT)),echo "Starting the platform. Documentation: http://localhost:$(PORT)/api/docs")
	@exec $(LOCAL)/local -functions $(LOCAL)

.PHONY: binaries
binaries: # the local platform and every function, for this machine
	@echo "Building the functions and the local platform. The first build takes a few minutes."
	@mkdir -p $(LOCAL)
	@$(GO_BUILD) -o $(LOCAL)/ ./infra/local ./functions/...

.PHONY: build
build: ## build every function for Lambda into .build/ARCH (ARCH=arm64)
	@for f in $(FUNCTIONS); do \
		mkdir -p $(BUILD)/$(ARCH)/$$f && \
		GOOS=linux GOARCH=$(ARCH) $(GO_BUILD) -o $(BUILD)/$(ARCH)/$$f/bootstrap ./functions/$$f || exit 1; \
	done
	@ls -l $(BUILD)/$(ARCH)/*/bootstrap

.PHONY: test
test: format vet lint deadcode validate check-licences ## run all tests and checks: format, vet, lint, dead code, template, licences
	@$(if $(RACE),,echo "no C compiler found: the tests run without the race detector";) go test $(RACE) -timeout 15m ./...

.PHONY: format
format: # fails on files that gofmt would change
	@files=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$files" ]; then echo "not formatted (gofmt -w):"; echo "$$files"; exit 1; fi

.PHONY: vet
vet: # fails on problems that go vet reports
	@go vet ./...

.PHONY: lint
lint: ## run the linter at the version pinned in infra/tools
	@$(LINT) run ./...

.PHONY: deadcode
deadcode: # fails if a package that a Lambda function links contains a function that no Lambda function can call
	@dead=$$($(DEADCODE) ./functions/...) || exit 1; \
	if [ -n "$$dead" ]; then echo "dead code:"; echo "$$dead"; exit 1; fi

.PHONY: validate
validate: ## check template.yaml, also with cfn-lint and the SAM transform if installed
	@go run ./infra/local check template.yaml
	@.ci/validate-template

.PHONY: licences
licences: ## regenerate infra/licences/README.md, the list of dependencies' licences
	@.ci/licences write

.PHONY: check-licences
check-licences: # fails on a licence that is not allowed, or that infra/licences/README.md does not list
	@.ci/licences check

.PHONY: vulnerable
vulnerable: ## check for known vulnerabilities that the code can reach
	@.ci/vulnerable

.PHONY: openapi
openapi: ## regenerate the OpenAPI document from the code
	@go run ./infra/openapi > $(DOCUMENT).new && mv $(DOCUMENT).new $(DOCUMENT)

.PHONY: fuzz
fuzz: ## run every fuzz test (FUZZTIME=60s each)
	@go run ./infra/fuzz -time $(FUZZTIME)

# `demo -own` does not run the demo. It exits with 0 if the demo would start its own platform, which needs the binaries.
.PHONY: demo
demo: ## show all features in the terminal, on the running platform or its own (URL=…)
	@mkdir -p $(BUILD) && $(GO_BUILD) -o $(BUILD)/demo ./infra/demo
	@if $(BUILD)/demo -own -url '$(URL)'; then $(MAKE) binaries; fi
	@exec $(BUILD)/demo -url '$(URL)' -binaries $(LOCAL)

.PHONY: bench
bench: binaries ## run the benchmarks and calculate the costs, about ten minutes (ONLY=costs,warm)
	@go run ./infra/bench -binaries $(LOCAL) $(if $(ONLY),-only $(ONLY),-save infra/bench/last.txt -costs infra/bench/COSTS.md)

SOAK        ?= 5m
.PHONY: soak
soak: ## send a day's traffic in a few minutes and check for leaks (SOAK=5m)
	@SOAK=$(SOAK) go test -count=1 -timeout 60m -v -run '^TestSoak$$' ./infra/soak

.PHONY: invoke
invoke: ## invoke a function of a running platform (FUNCTION=… EVENT=events/….json)
	@if [ -z '$(FUNCTION)' ] || [ -z '$(EVENT)' ]; then \
		echo "make invoke FUNCTION=AuthFunction EVENT=events/auth-me.json" >&2; exit 2; fi
	@go run ./infra/local invoke -endpoint http://127.0.0.1:$(AWS_PORT) $(FUNCTION) $(EVENT)

# SAM publishes a new function version only if the code changed. A new parameter value would update the function but not
# the version that the alias `live` refers to. So each function's code includes a checksum of the template and the
# parameters. The checksum does not cover parameters on the command line of `sam deploy`: set them in samconfig.toml.
.PHONY: deploy
deploy: ## deploy to AWS with the SAM CLI (ENV=dev|prod)
	GOFLAGS='$(BUILD_FLAGS)' CGO_ENABLED=0 sam build --config-env $(ENV)
	@sum=$$(cat template.yaml samconfig.toml | git hash-object --stdin) && \
	for f in .aws-sam/build/*/; do echo "$$sum" > "$$f/configuration" || exit 1; done
	sam deploy --config-env $(ENV)

.PHONY: clean
clean: ## remove build output (keeps the local platform's data, which is in .local)
	@rm -rf $(BUILD) .aws-sam
