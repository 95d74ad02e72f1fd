# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each target is one of scripts/. The module's own makefile is Kbuild.

export DEPTH ?= quick
PARTS := static kunit model lab

.PHONY: all lab module deps check $(PARTS:%=check-%) check-device-asan fuzz bench clean help

all: help

help:
	@echo 'make lab           boot two guests with crnic on mocx, show them at work'
	@echo 'make check         all of the checks below; DEPTH=full for every variant'
	@echo 'make check-static  warnings, sparse, clang, checkpatch, kernel-doc'
	@echo 'make check-kunit   the driver'\''s KUnit suites, in a UML kernel'
	@echo 'make check-model   native tests of the device model'
	@echo 'make check-lab     what needs the emulator: tests in two guests'
	@echo 'make check-device-asan  the QEMU device by qtest, QEMU built with ASan'
	@echo 'make fuzz          fuzz the device model, each target for FUZZ_SECONDS (600)'
	@echo 'make bench         crnic, mlx5 and rxe side by side; build/bench.json'
	@echo 'make module        build/module/6.12/crnic.ko'
	@echo 'make deps          install missing build tools by apt (root or sudo)'
	@echo 'make clean         remove build/; the cache in ~/.cache/crnic stays'

deps:
	@scripts/deps

lab: deps
	@scripts/lab down 2>/dev/null; scripts/lab up --driver crnic
	@trap 'scripts/lab down; exit 130' INT; scripts/lab demo

module:
	@scripts/build-module

check: deps
	@scripts/check $(PARTS)

$(PARTS:%=check-%): check-%:
	@scripts/check-$*

# Not among the parts: its QEMU takes as long to build as the other one.
check-device-asan:
	@scripts/build-qemu --asan
	@qemu/tests/device.py build/qemu-system-x86_64.asan

fuzz: deps
	@scripts/fuzz

bench:
	@scripts/bench

clean:
	@scripts/lab down --all
	rm -rf build
