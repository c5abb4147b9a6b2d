# All targets work in the private folder .plait/, which `make setup` fills; they change nothing else.
.DEFAULT_GOAL := help
.PHONY: help demo test test-all build lean install wheel setup usable bench docs release format clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## make .plait/env with every tool and library needed
	@scripts/setup.sh

# Makes .plait/env without the packages that only tests need.
usable:
	@scripts/setup.sh --use

# Builds only what the demo needs.
lean: usable
	@scripts/build.sh --lean

build: usable  ## compile Plait and install it into .plait/env
	@scripts/build.sh

install: usable  ## compile the libraries for C and C++ into PREFIX, as in make install PREFIX=$HOME/plait
	@scripts/install.sh "$(PREFIX)"

wheel: build  ## build wheels for MPICH, Open MPI and no MPI into .plait/dist
	@scripts/wheel.sh

demo: lean  ## write, read back and picture a terrain under many distributions
	@.plait/env/bin/plait demo

test: setup  ## compile, test C++, C, Python and MPI, and check the style; PRODUCT=NAME tests one product
	@PRODUCT="$(PRODUCT)" scripts/test.sh

test-all: setup  ## test, and the rest: more ranks, hosts, installation, linters, sanitizers, fuzzing, long tests
	@PRODUCT="$(PRODUCT)" scripts/test.sh --all

bench: build  ## compare reading and writing with MPI-IO, side by side
	@.plait/env/bin/plait bench io

docs: build  ## build the documentation site into .plait/docs, with every link checked
	@scripts/docs.sh

release: build  ## check all that a release needs and build it into .plait/dist; publishes nothing
	@.plait/env/bin/python scripts/release.py

format: setup  ## format the sources in the project's style
	@scripts/format.sh

clean:  ## remove builds and logs, but not the environment
	@rm -rf .plait/build .plait/log
