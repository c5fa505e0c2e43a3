# Settings
BUILD   ?= build
CC      ?= gcc
PREFIX  ?= /usr/local
SAN     ?=
VERSION := 0.1.0

PKGS    := openblas lapacke libsodium zlib
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
OPT     ?= -O2 -g
CFLAGS  += -std=c17 $(OPT) $(WARN) -fPIC -pthread
CPPFLAGS += -Iruntime -Ibindings -DPN_VERSION='"$(VERSION)"' $(shell pkg-config --cflags $(PKGS) lua5.4)
LDLIBS  := $(shell pkg-config --libs $(PKGS)) -lsleef -lm -pthread
ifneq ($(SAN),)
CFLAGS  += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SAN)
endif

# Sources
RUNTIME_SRC  := $(filter-out runtime/numeric/simd_%.c,$(wildcard runtime/*/*.c))
SIMD_SRC     := $(wildcard runtime/numeric/simd_*.c)
BINDING_SRC  := $(filter-out bindings/main.c bindings/repl%.c,$(wildcard bindings/*.c))
RUNTIME_OBJ  := $(RUNTIME_SRC:%.c=$(BUILD)/%.o) $(SIMD_SRC:%.c=$(BUILD)/%.o)
BINDING_OBJ  := $(BINDING_SRC:%.c=$(BUILD)/%.o)

STDLIB       := $(wildcard stdlib/*.lua)

all: $(BUILD)/lua/penumbra/core.so $(STDLIB:stdlib/%=$(BUILD)/lua/penumbra/%)

$(BUILD)/lua/penumbra/%.lua: stdlib/%.lua
	@mkdir -p $(@D)
	cp $< $@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(EXTRA_$(notdir $*)) -MMD -MP -c $< -o $@

ifeq ($(shell uname -m),x86_64)
EXTRA_simd_avx2   := -mavx2 -mfma
EXTRA_simd_avx512 := -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
endif

$(BUILD)/libpenumbra.a: $(RUNTIME_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/lua/penumbra/core.so: $(BINDING_OBJ) $(BUILD)/libpenumbra.a
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(RUNTIME_OBJ:.o=.d) $(BINDING_OBJ:.o=.d)
.PHONY: all
