# `make run` shows the system at work; `make test` proves it. Both install what they need.
SWIFT ?= swift
PACKAGES := libsqlite3-dev libssl-dev libroaring-dev python3-venv
.PHONY: run test deps build lint

deps:
	@sh .ci/deps $(PACKAGES)

build: deps
	$(SWIFT) build -c release

test: deps
	@sh .ci/python .build/python
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Package.swift
