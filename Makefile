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

# All builds, tests and checks use the same flags, so that Go compiles each package only once. Only the race detector
# needs a second variant. Binaries are built without cgo, so that they are the same on every machine. The compiler does
# not write debug information, which the linker would remove again. This saves a tenth of the time for compiling. A flag
# must not contain a space, because GOFLAGS is split at spaces.
BUILD_FLAGS := -trimpath -tags=lambda.norpc -ldflags=-s -gcflags=all=-dwarf=false
export GOFLAGS     := $(strip $(filter-out $(BUILD_FLAGS),$(GOFLAGS)) $(BUILD_FLAGS))
export CGO_ENABLED := 0
# The linter includes the checks of go vet. Many tests wait for processes, so that twice as many packages as cores, and
# four tests of each, run at the same time.
TEST        := go test -vet=off -p $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN)) -parallel 4 -timeout 20m
# The race detector needs cgo and a C compiler. Without a C compiler, the tests run without the race detector.
HAS_CC      := $(shell command -v $${CC:-cc} 2>/dev/null)
RACE        := $(if $(HAS_CC),CGO_ENABLED=1 $(TEST) -race,$(TEST))
# The packages that `make test` also tests with the race detector: those that start goroutines, or fetch secrets beside
# requests. They do not need the AWS SDK, which takes minutes to compile for the race detector. `make race` tests all
# packages, which takes more than 20 minutes.
CONCURRENT  := $(addprefix ./shared/,assistant/uistream async config)
TOOLS       := $(BUILD)/tools
STEP        := .ci/step
# Runs targets one after another, also after one has failed, and prints a summary.
ALL         := .ci/all

# The list contains the targets whose comment begins with ##. Other targets are steps of these targets.
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# DEBUG=1 builds the functions with symbols and without optimizations, for a debugger.
.PHONY: run
run: $(if $(DEBUG),platform,binaries) ## start the platform: http://localhost:3000 (settings: shared/config/README.md)
	@exec $(LOCAL)/local $(if $(DEBUG),-debug,-functions $(LOCAL))

.PHONY: dev
dev: platform ## start the platform, and replace functions when their code changes (DEBUG=1)
	@exec $(LOCAL)/local -watch $(if $(DEBUG),-debug)

.PHONY: platform
platform: # the local platform, which builds the functions itself
	@echo "Building the local platform."
	@mkdir -p $(LOCAL)
	@.ci/build $(LOCAL)/ ./infra/local

.PHONY: binaries
binaries: # the local platform and every function, for this machine
	@echo "Building the local platform and $(words $(FUNCTIONS)) functions. The first build compiles about 700 packages in a few minutes."
	@mkdir -p $(LOCAL)
	@.ci/build $(LOCAL)/ ./infra/local ./functions/...

.PHONY: build
build: ## build every function for Lambda into .build/ARCH (ARCH=arm64)
	@for f in $(FUNCTIONS); do \
		mkdir -p $(BUILD)/$(ARCH)/$$f && \
		GOOS=linux GOARCH=$(ARCH) go build -o $(BUILD)/$(ARCH)/$$f/bootstrap ./functions/$$f || exit 1; \
	done
	@ls -l $(BUILD)/$(ARCH)/*/bootstrap

.PHONY: build-all
build-all: # for both architectures of Lambda
	@$(MAKE) build ARCH=arm64
	@$(MAKE) build ARCH=amd64

.PHONY: check
check: ## run before each commit: format, lint, unit tests
	@$(ALL) format lint test-unit

.PHONY: test
test: ## run all tests and checks of a change
	@$(ALL) format lint deadcode validate check-licences test-all test-concurrent

.PHONY: nightly
nightly: ## run what takes too long for each change, in more than an hour
	@$(ALL) build-all vulnerable test-nightly race faults fuzz soak demo bench mutations

.PHONY: test-unit
test-unit: # the tests that start no other program
	@$(STEP) 'unit tests' $(TEST) -short ./...

.PHONY: test-all
test-all: # all tests
	@$(STEP) 'tests' $(TEST) ./...

.PHONY: test-nightly
test-nightly: export NIGHTLY = 1
test-nightly: test-all # all tests, long tests in their full form

.PHONY: test-concurrent
test-concurrent: # the unit tests of CONCURRENT
	@$(if $(HAS_CC),$(STEP) 'unit tests with the race detector' env $(RACE) -short $(CONCURRENT),echo 'No C compiler found: no tests with the race detector.')

.PHONY: race
race: ## run all tests with the race detector, also in child processes (SHORT=-short)
	@$(STEP) 'all tests with the race detector' env $(RACE) $(SHORT) ./...

.PHONY: faults
faults: ## run the tests of failures and kills in their full form, with the race detector
	@$(STEP) 'failures of AWS, and killed functions' env NIGHTLY=1 $(RACE) -count=1 ./infra/faults
	@$(STEP) 'kills of the platform' env NIGHTLY=1 $(RACE) -count=1 -run Kill ./infra/e2e

.PHONY: format
format: tools # fails on files that goimports would change
	@$(STEP) 'format' sh -c 'files=$$($(TOOLS)/goimports -local devplatform -l $$(git ls-files --cached --others --exclude-standard "*.go")) || exit 1; \
	if [ -n "$$files" ]; then echo "not formatted ($(TOOLS)/goimports -local devplatform -w):"; echo "$$files"; exit 1; fi'

.PHONY: lint
lint: tools ## run the linter, which includes the checks of go vet
	@$(STEP) 'lint' $(TOOLS)/golangci-lint run ./...

.PHONY: deadcode
deadcode: tools # fails if a package that a Lambda function links contains a function that no Lambda function can call
	@$(STEP) 'dead code' sh -c 'dead=$$($(TOOLS)/deadcode ./functions/...) || exit 1; \
	if [ -n "$$dead" ]; then echo "dead code:"; echo "$$dead"; exit 1; fi'

.PHONY: tools
tools: # the tools that infra/tools pins, in .build/tools
	@$(STEP) 'tools (the first build compiles 1,400 packages, which takes a few minutes)' .ci/tools

.PHONY: validate
validate: ## check template.yaml, also with cfn-lint and the SAM transform if installed
	@$(STEP) 'template' sh -c 'go run ./infra/local check template.yaml && .ci/validate-template'

.PHONY: licences
licences: tools ## regenerate infra/licences/README.md, the list of dependencies' licences
	@.ci/licences write

.PHONY: compilers
compilers: ## bundle the compilers of builds with the versions in infra/compilers (needs npm)
	@go run ./infra/compilers

.PHONY: check-licences
check-licences: tools # fails on a licence that is not allowed, or that infra/licences/README.md does not list
	@$(STEP) 'licences' .ci/licences check

.PHONY: vulnerable
vulnerable: ## check for known vulnerabilities that the code can reach
	@.ci/vulnerable

.PHONY: openapi
openapi: ## regenerate the OpenAPI document from the code
	@go run ./infra/openapi > $(DOCUMENT).new && mv $(DOCUMENT).new $(DOCUMENT)

.PHONY: fuzz
fuzz: ## run every fuzz test (FUZZTIME=60s each)
	@go run ./infra/fuzz -time $(FUZZTIME)

# Each mutation is a change of one place of the code. Those that no test notices are listed.
SEED        ?= 1
MUTATIONS   ?= 100
.PHONY: mutations
mutations: ## count the changes of the code that tests notice (SEED=1 MUTATIONS=100)
	@go run ./infra/mutate -seed $(SEED) -n $(MUTATIONS)

# KEEP=1 keeps the account, the project and the webhooks, and prints how to log in.
.PHONY: demo
demo: binaries ## show all features on the running platform or its own (URL=… KEEP=1)
	@go build -o $(BUILD)/ ./infra/demo ./infra/operator
	@exec $(BUILD)/demo -url '$(URL)' -binaries $(LOCAL) -operator $(BUILD)/operator $(if $(KEEP),-keep)

.PHONY: bench
bench: binaries ## measure the speed of the local platform, about ten minutes (ONLY=cold,warm)
	@go run ./infra/bench -binaries $(LOCAL) $(if $(ONLY),-only $(ONLY))

.PHONY: costs
costs: binaries ## calculate the costs on AWS, and update infra/COSTS.md
	@go run ./infra/costs -binaries $(LOCAL) -document infra/COSTS.md

SOAK        ?= 5m
.PHONY: soak
soak: ## send a day's traffic in a few minutes and check for leaks (SOAK=5m)
	@NIGHTLY=1 SOAK=$(SOAK) go test -count=1 -timeout 60m -v -run '^TestSoak$$' ./infra/soak

# A separate module pins versitygw, another implementation of S3, and its dependencies.
.PHONY: compare-s3
compare-s3: ## compare the S3 of the local platform with versitygw, which the first run builds in a few minutes
	@mkdir -p $(BUILD) && CGO_ENABLED=0 go build -modfile=infra/s3oracle/go.mod -o $(BUILD)/versitygw github.com/versity/versitygw/cmd/versitygw
	@S3_ORACLE=$(CURDIR)/$(BUILD)/versitygw go test -count=1 -v -run '^TestOracle$$' ./infra/local/s3

# AWS_ENDPOINT_URL selects a local platform.
.PHONY: operator
operator: ## find, suspend and delete accounts, block sites (ARGS='find ada')
	@go run ./infra/operator $(ARGS)

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
	sam build --config-env $(ENV)
	@sum=$$(cat template.yaml samconfig.toml | git hash-object --stdin) && \
	for f in .aws-sam/build/*/; do echo "$$sum" > "$$f/configuration" || exit 1; done
	sam deploy --config-env $(ENV)

.PHONY: clean
clean: ## remove build output (keeps the local platform's data, which is in .local)
	@rm -rf $(BUILD) .aws-sam
