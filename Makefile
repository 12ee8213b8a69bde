# `make run` shows the system at work; `make test` proves it. Both install what they need.
SWIFT ?= swift
PACKAGES := libsqlite3-dev libpq-dev libssl-dev libroaring-dev libnghttp2-dev libcurl4-openssl-dev libqrencode-dev libnats-dev zlib1g-dev libcmark-gfm-dev libcmark-gfm-extensions-dev nghttp2-server openssl python3-venv tzdata
JAVA_PACKAGES := openjdk-17-jdk-headless
DEB_PACKAGES := dpkg-dev gnupg xz-utils
TEST_PACKAGES := $(JAVA_PACKAGES) $(DEB_PACKAGES) chromium curl firefox-esr fish fonts-noto-cjk gnutls-bin groff junit5 libseccomp2 nats-server pebble postgresql prometheus systemd zsh
# All symbols are bound at the start, and their table is read-only from then on.
HARDENED := -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
.PHONY: run test test-quick test-blackbox test-slow test-build test-packages deps plan build deb android lint fuzz cost sanitize sanitize-quick

# Ends with Ctrl-C. HTTP_ADDRESS=127.0.0.1:9090 DEVICE_ADDRESS=127.0.0.1:9091 choose other ports.
run: build
	@.ci/demo .build/release/borealis

deps:
	@command -v $(SWIFT) >/dev/null || { echo "Swift 6.2 or later is needed: https://www.swift.org/install"; exit 1; }
	@sh .ci/deps $(PACKAGES)

# SwiftPM sees a new migration or page only when it plans the build anew, which a newer manifest makes it do.
plan:
	@[ -z "$$(find Migrations Docs -type d -newer Package.swift)" ] || touch Package.swift
	@sh .ci/headers

build: deps plan
	$(SWIFT) build -c release $(HARDENED)

# A Debian package, a tarball, their bill of materials and sums in .build/packages, of the commit that is checked out.
# SIGN_KEY=release@example.com names the key of gpg that signs the sums.
deb: deps plan
	@sh .ci/deps $(DEB_PACKAGES)
	SWIFT=$(SWIFT) docker/debian/release

# The device library for Java and Android: borealis-device.jar and borealis.aar in .build/android.
android:
	@sh .ci/deps $(JAVA_PACKAGES)
	Sources/android/build

test: test-build
	SWIFT=$(SWIFT) Tests/run
	SWIFT=$(SWIFT) Tests/Fuzz/run 3

# One tier of the tests, see Docs/development.md.
test-quick test-blackbox test-slow: test-build
	SWIFT=$(SWIFT) Tests/run $(@:test-%=%)

# Installs, upgrades and removes the package in a Debian of its own, which needs root.
test-packages: deb
	@sh .ci/python .build/python
	Tests/Packages/run .build/packages

test-build: deps plan
	@sh .ci/deps $(TEST_PACKAGES)
	@command -v kubectl >/dev/null || sh .ci/deps kubernetes-client
	@sh .ci/python .build/python
	$(SWIFT) build --build-tests
	Tests/AndroidTests/run build
	SWIFT=$(SWIFT) Tests/AppleTests/run build

# Two minutes for each parser of outside bytes.
fuzz: deps
	SWIFT=$(SWIFT) Tests/Fuzz/run 120

# The instructions of a push, compared with what they were.
cost: build
	@sh .ci/deps valgrind
	@sh .ci/python .build/python
	Tests/Cost/run

# All tests under ThreadSanitizer, then under AddressSanitizer.
sanitize: deps
	@sh .ci/python .build/python
	SWIFT=$(SWIFT) Tests/Sanitize/run

# What threads share most under ThreadSanitizer, and what is nearest to C under AddressSanitizer.
sanitize-quick: deps
	SWIFT=$(SWIFT) Tests/Sanitize/run quick

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Package.swift
