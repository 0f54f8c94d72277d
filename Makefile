# Everything here needs Go 1.26.5 or newer and make, nothing else. `make` alone lists the targets.

GO      ?= go
BACKEND ?=
GOLDEN  ?= internal/golden/testdata
TORCH   ?=
CTRANSLATE2 ?=
REPEAT  ?= 5
PYTHON  ?= python3
PACKAGES ?= ./...
FUZZ     ?= 1000000x
FUZZ_ARCHIVES ?= 100000x
FUZZ_GRAPHS ?= 60s

.PHONY: help build demo test examples test-long readme dist fuzz race race-all check cross golden check-xla check-onnx check-mpi arm64 bench report generate module clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the program, one static binary: bin/ut
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -trimpath -o bin/ut ./cmd/ut

demo: build ## train, evaluate and visualize a small model
	./bin/ut demo

test: ## run all tests, at most 10 minutes on 2 cores
	$(GO) test -timeout 10m $(PACKAGES)

test-long: ## run all tests in their long form: more sizes, longer sequences
	UT_LONG=1 $(GO) test -timeout 30m $(PACKAGES)

readme: ## run the commands of README.md in a fresh clone; SKIP="make test" skips that line
	SKIP="$(SKIP)" scripts/readme.sh

dist: ## build static binaries for Linux, macOS and Windows on amd64 and arm64, with checksums: dist/
	GO="$(GO)" scripts/dist.sh dist

fuzz: ## run the fuzz target of every parser, FUZZ=1000000x executions each, FUZZ_ARCHIVES=100000x for archives, and cpu on random graphs, FUZZ_GRAPHS=60s
	FUZZ="$(FUZZ)" FUZZ_ARCHIVES="$(FUZZ_ARCHIVES)" FUZZ_GRAPHS="$(FUZZ_GRAPHS)" GO="$(GO)" scripts/fuzz.sh

examples: ## build and run the programs below examples, each a module of its own
	@for folder in examples/*/; do echo "$$folder"; (cd "$$folder" && $(GO) vet ./... && $(GO) run .) || exit 1; done

race: ## run the race detector on the tests in which goroutines share data
	GO="$(GO)" scripts/race.sh

race-all: ## run the race detector on all packages: about an hour
	UT_LONG=1 $(GO) test -race -gcflags='github.com/gomlx/compute/...=-d=checkptr=0' -timeout 90m $(PACKAGES)

check: cross ## check formatting, vet, staticcheck, types on other systems, size budget
	@echo "gofmt"; unformatted="$$(gofmt -l .)"; if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) vet $(PACKAGES)
	$(GO) tool staticcheck $(PACKAGES)
	$(GO) run ./internal/cmd/budget

arm64: ## test the ARM64 kernels in an emulator; one line if qemu is not installed
	GO="$(GO)" scripts/arm64.sh

check-onnx: ## compare graphs of ONNX with the program; one line without a C compiler or PYTHON with onnxruntime
	GO="$(GO)" PYTHON="$(PYTHON)" scripts/onnx.sh

check-mpi: ## compare several ranks under mpirun with one process, and kill some (needs Open MPI)
	scripts/ranks.sh

cross: ## check the types of all packages for other systems and processors, and the assembly of ARM64
	$(GO) run ./internal/cmd/typecheck windows/amd64 darwin/arm64
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./cpu/internal/kernel

generate: ## regenerate the generated kernels
	$(GO) generate ./cpu/...

golden: ## compare the model with GOLDEN=dir of reference vectors, on BACKEND=name
	$(if $(filter xla%,$(BACKEND)),CGO_ENABLED=1) $(GO) run $(if $(filter xla%,$(BACKEND)),-tags xla) ./internal/cmd/golden -backend "$(BACKEND)" "$(GOLDEN)"

check-xla: ## compare XLA (BACKEND=xla:cpu) with the backend cpu; one line if there is no plugin
	GO="$(GO)" scripts/xla.sh $(or $(BACKEND),xla:cpu)

bench: build ## measure speed; TORCH=script, CTRANSLATE2=script and PYTHON=python compare with those; ONLY="train adaptive,decode" chooses rows, REPEAT=5 timed runs a turn
	$(GO) run ./internal/cmd/bench -torch "$(TORCH)" -ctranslate2 "$(CTRANSLATE2)" -python "$(PYTHON)" -only "$(ONLY)" -repeat "$(REPEAT)" -out bin/bench.md

report: build ## write RESULTS.md and results/tableN.md from the published results
	./bin/ut table report --results results

module: ## change the module path to MODULE=example.com/you/universal-transformer everywhere
	scripts/module.sh "$(MODULE)"

clean: ## remove built files
	rm -rf bin dist
