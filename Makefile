# Penumbra.  `make help` lists the targets; `make VARIABLE=value` changes a setting.
# Order: settings, sources, rules, tests, checks, install, help.

# ---- settings ----

VERSION := $(shell sed -n 's/^\#define PN_VERSION_STRING "\(.*\)"/\1/p' runtime/include/penumbra/version.h)
SO      := libpenumbra.so.0
FED_SO  := libpenumbra_federated.so.0
LUA_SO  := libpenumbra_lua.so.0

# Sanitizers, e.g. SAN=address,undefined; they get a tree of their own.
SAN     ?=
BUILD   ?= build$(if $(SAN),/san)
PREFIX  ?= /usr/local
DESTDIR ?=
# Where libraries stand below the prefix.
LIB     ?= lib
# Warnings are errors with WERROR=1 (as in CI).
WERROR  ?=
OPT     ?= $(if $(SAN),-O1 -g1,-O3 -g)
# C tests are compiled more often than they are run; TEST_OPT=-g is for a debugger.
TEST_OPT ?= -O1 -g1
# Guards against exploits, as distributions build; HARDEN= leaves them out.
HARDEN  ?= yes
# KEYSTREAM=openssl takes the bytes of noise from libcrypto, three times as fast where the processor has AVX2 or AVX-512.
KEYSTREAM ?=
# V=1 shows the commands in full.
V       ?=
# CCACHE=ccache takes from it what was compiled before, in whichever folder.
CCACHE  ?=
# Run a part of the suite with TESTS="path ...": spec files, C tests, or folders.
TESTS   ?= tests
# THOROUGH=1 asks for the thorough tier of the tests, and PART=2/5 for the second fifth of the programs to which it adds something;
# OMIT=2/5 leaves these out of the fast tier, for who runs them in the thorough one as well.
THOROUGH ?=
PART    ?=
OMIT    ?=
# Fuzz one reader of bytes, TARGET=csv, for so many seconds; FUZZING=1 is what make fuzz builds its tree with.
TARGET  ?=
SECONDS ?= 60
FUZZING ?=
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(filter %gcc,$(CC)),$(CC:gcc=g++),g++)
endif
# The machine to build for, and its tools, are the compiler's.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ifeq ($(origin AR),default)
AR := $(shell $(CC) -print-prog-name=ar 2>/dev/null)
endif
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy 2>/dev/null)

STD      := -std=c17 -fPIC -pthread -fno-semantic-interposition
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(if $(WERROR),-Werror)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
INCLUDE   = -Iruntime/include -Iruntime -I. -Itests -I$(BUILD)/proto
# One file is C++: decimal.cc, for std::to_chars.
CXX_STD  := -std=c++17 -fPIC -fno-semantic-interposition -fno-rtti
CXX_WARN := -Wall -Wextra -Wpedantic -Wshadow $(if $(WERROR),-Werror)

# What the compiler takes of the guards, asked once: canaries, probes of the stack, and marked targets of jumps (x86, ARM).
GUARDS := -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard
GUARDS := $(if $(HARDEN),$(shell for flag in $(GUARDS); do \
    $(CC) -Werror $$flag -S -x c /dev/null -o /dev/null >/dev/null 2>&1 && echo $$flag; done))
# Checked calls of the C library want an optimiser, and are not for sanitizers, which check more.
FORTIFY := $(and $(HARDEN),$(filter-out -O0 -Og,$(filter -O%,$(OPT))),$(if $(SAN),,yes))
FORTIFY := $(if $(FORTIFY),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(shell $(CC) -Werror -O2 -U_FORTIFY_SOURCE \
    -D_FORTIFY_SOURCE=3 -include stdlib.h -S -x c /dev/null -o /dev/null >/dev/null 2>&1 && echo 3 || echo 2))
# What is built does not know where: the same sources give the same bytes in every folder.
STD     += '-ffile-prefix-map=$(CURDIR)=.'
CXX_STD += '-ffile-prefix-map=$(CURDIR)=.'
# Tables of the linker are written before the program begins, and never again.
SEALED  := -Wl,-z,relro,-z,now,-z,noexecstack
SEALED  := $(if $(HARDEN),$(SEALED))

# Flags for one source file: EXTRA_<name without .c>.  Everything else is built for the baseline processor.
EXTRA_lmpi    = $(MPI_CFLAGS)
EXTRA_keystream := $(if $(filter openssl,$(KEYSTREAM)),-DPN_KEYSTREAM_OPENSSL)
# Pairs of doubles that are passed in two registers and read back from memory as one vector stall: three times as slow.
EXTRA_interval      := -fno-tree-slp-vectorize
EXTRA_interval_math := $(EXTRA_interval)
EXTRA_bound_sweep   := $(EXTRA_interval)
EXTRA_bound_search  := $(EXTRA_interval)
ifeq ($(MACHINE),x86_64)
EXTRA_simd_avx2   := -mavx2 -mfma
EXTRA_simd_avx512 := -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all setup demo repl test test-all test-san test-threads coverage warnings fuzz fuzz-all check-layers lint check-abi abi format benches bench reproduce docs picture sbom install install-rock uninstall deb \
        clean help FORCE

all: ## Build the library, the Lua module and the program

GOALS := $(or $(MAKECMDGOALS),all)
# All processors, unless -j says how many.  What clean removes is not made at the same time.
ifeq ($(filter -j% clean,$(MAKEFLAGS) $(GOALS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

# Compiler and linker flags of the libraries.  setup.sh writes them once it has seen, or installed, what the
# build needs; make then starts over with them.
ifneq ($(filter-out help clean uninstall setup,$(GOALS)),)
include $(BUILD)/config.mk
endif
ifeq ($(KEYSTREAM),openssl)
DEP_LIBS += -lcrypto
endif

$(BUILD)/config.mk: tests/tools/setup.sh
	@sh $< build $@

$(BUILD)/setup/%: tests/tools/setup.sh
	@sh $< 'build $*' $@

# What tests install may be something to build with: make starts over once it is there.
ifneq ($(filter test,$(GOALS)),)
include $(BUILD)/setup/test
endif

# ---- sources ----

SIMD_SRC    := $(sort $(wildcard runtime/numeric/simd/simd_*.c))
ifneq ($(MACHINE),x86_64)
SIMD_SRC    := $(filter-out %_avx2.c %_avx512.c,$(SIMD_SRC))
endif
RUNTIME_SRC := $(filter-out runtime/numeric/simd/simd_%.c,$(sort $(wildcard runtime/*/*.c runtime/*/*/*.c))) $(SIMD_SRC)
RUNTIME_CXX := $(sort $(wildcard runtime/*/*.cc runtime/*/*/*.cc))
RUNTIME_PROTO := $(sort $(wildcard runtime/*/*.proto runtime/*/*/*.proto))
PROGRAM_SRC := $(sort $(wildcard bindings/prompt/*.c bindings/kernel/*.c) bindings/curator/serve.c bindings/curator/confine.c)
BINDING_SRC := $(filter-out $(PROGRAM_SRC) bindings/mpi/%,$(sort $(wildcard bindings/*/*.c)))
STDLIB      := $(patsubst stdlib/%,%,$(sort $(shell find stdlib -name '*.lua' -o -path '*/handbook/*.md')))
# What hosts rely on: the headers of libpenumbra and of libpenumbra_federated.
FED_HEADERS := runtime/include/penumbra/federated.h
HEADERS     := runtime/include/penumbra.h $(filter-out $(FED_HEADERS),$(sort $(wildcard runtime/include/penumbra/*.h)))
PUBLIC      := $(HEADERS) $(FED_HEADERS) bindings/embed/penumbra_lua.h
C_TEST_SRC  := $(sort $(wildcard tests/*/*_test.c tests/*/*/*_test.c tests/*/*/*/*_test.c))
BENCH_SRC   := $(sort $(wildcard tests/bench/*_bench.c))
FUZZ_SRC    := $(sort $(wildcard tests/fuzz/*_fuzz.c))
FUZZ_KIT    := tests/fuzz/fuzz.c tests/fuzz/lua_kit.c

CXX_OBJ     := $(RUNTIME_CXX:%.cc=$(BUILD)/%.o)
PROTO_SRC   := $(RUNTIME_PROTO:runtime/%.proto=$(BUILD)/proto/%.pb-c.c)
PROTO_OBJ   := $(PROTO_SRC:.c=.o)
RUNTIME_OBJ := $(RUNTIME_SRC:%.c=$(BUILD)/%.o) $(CXX_OBJ) $(PROTO_OBJ)
# Federated runs are a library of their own: who trains in one process needs no ZeroMQ.
FED_OBJ     := $(filter $(BUILD)/runtime/federated/% $(BUILD)/proto/federated/%,$(RUNTIME_OBJ))
CORE_OBJ    := $(filter-out $(FED_OBJ),$(RUNTIME_OBJ))
# The Lua half as C, for states that have no files.
LUA_HALF    := $(BUILD)/bindings/lua_half.o
BINDING_OBJ := $(BINDING_SRC:%.c=$(BUILD)/%.o) $(LUA_HALF)
# Lua's longjmp, where ThreadSanitizer would not see it.
LONGJMP     := $(if $(filter thread,$(SAN)),$(BUILD)/tests/tools/longjmp.o)
PROGRAM_OBJ := $(PROGRAM_SRC:%.c=$(BUILD)/%.o) $(LONGJMP)
PROGRAM_LIBS = $(LUA_LIBS) $(READLINE_LIBS) $(SECCOMP_LIBS)
# What fuzz targets read with, besides the runtime: all but main().
FUZZED_OBJ  := $(BINDING_OBJ) $(filter-out %/main.o,$(PROGRAM_OBJ))
C_TESTS     := $(C_TEST_SRC:%.c=$(BUILD)/%)
BENCHES     := $(BENCH_SRC:%.c=$(BUILD)/%)
FUZZ_OBJ    := $(FUZZ_SRC:%.c=$(BUILD)/%.o) $(FUZZ_KIT:%.c=$(BUILD)/%.o)
FUZZERS     := $(FUZZ_SRC:tests/fuzz/%_fuzz.c=$(BUILD)/fuzzers/%)
# The module for ranks, where there is an MPI: tests install one, so this looks each time.
MPI_LIBS    := $(shell pkg-config --libs ompi-c 2>/dev/null)
MPI_OBJ     := $(if $(MPI_LIBS),$(BUILD)/bindings/mpi/lmpi.o)
MPI_CFLAGS  := $(if $(MPI_LIBS),$(patsubst -I%,-isystem %,$(shell pkg-config --cflags ompi-c)))
# What stands between C tests and what allocates (tests/fail_calls.h).
FAIL_OBJ    := $(BUILD)/tests/fail_calls.o
FAIL_LUA    := $(BUILD)/tests/fail_lua.o
ALL_OBJ     := $(FAIL_OBJ) $(FAIL_LUA) $(RUNTIME_OBJ) $(BINDING_OBJ) $(PROGRAM_OBJ) $(MPI_OBJ) $(C_TESTS:=.o) $(BENCHES:=.o) $(FUZZ_OBJ)

# The tests' own module with deliberate faults (core/mutant.h): only what includes that header is compiled again.
MUTANT_SRC  := $(shell grep -l 'core/mutant\.h' $(RUNTIME_SRC))
MUTANT_OBJ  := $(MUTANT_SRC:%.c=$(BUILD)/mutants/%.o)
MUTANTS     := $(BUILD)/mutants/penumbra/core.so
# The same as a program, in which scripts can commit memory errors.
PEEK_SRC    := $(shell grep -l 'tools/peek\.h\|core/mutant\.h' $(BINDING_SRC) $(PROGRAM_SRC)) tests/tools/peek.c
PEEK_OBJ    := $(PEEK_SRC:%.c=$(BUILD)/mutants/%.o)
PEEK        := $(BUILD)/mutants/program

LUA_TREE    := $(STDLIB:%=$(BUILD)/lua/penumbra/%)
CORE        := $(BUILD)/lua/penumbra/core.so
PROGRAM     := $(if $(wildcard bindings/prompt/main.c),$(BUILD)/penumbra)
MPI         := $(if $(MPI_LIBS),$(BUILD)/lua/penumbra/mpi.so)

# ---- rules ----

ARCHIVES := $(BUILD)/libpenumbra_federated.a $(BUILD)/libpenumbra.a

all: $(ARCHIVES) $(BUILD)/libpenumbra.so $(BUILD)/libpenumbra_federated.so $(BUILD)/libpenumbra_lua.a $(BUILD)/libpenumbra_lua.so $(CORE) $(LUA_TREE) $(PROGRAM) $(MPI)

COMPILE = $(CC) $(CPPFLAGS) $(INCLUDE) $(DEP_CFLAGS) $(LUA_CFLAGS) $(STD) $(OPT) $(GUARDS) $(FORTIFY) $(WARN) $(SANFLAGS) $(CFLAGS)
COMPILE_CXX = $(CXX) $(CPPFLAGS) $(INCLUDE) $(CXX_STD) $(OPT) $(GUARDS) $(FORTIFY) $(CXX_WARN) $(SANFLAGS) $(CXXFLAGS)
LINK    = $(CC) $(OPT) $(SANFLAGS) $(SEALED) -pthread $(LDFLAGS)
LIBS    = $(DEP_LIBS) $(PROTOBUF_LIBS) -lm -pthread $(LDLIBS)
ALL_LIBS = $(DEP_LIBS) $(FEDERATED_LIBS) -lm -pthread $(LDLIBS)
# In libpenumbra.so protobuf-c reads model files, and nothing else sees it: it is linked in where there is an archive of it.
STATIC_PROTOBUF := $(filter /%,$(shell $(CC) -print-file-name=libprotobuf-c.a))
SO_LIBS  = $(DEP_LIBS) $(or $(STATIC_PROTOBUF),$(PROTOBUF_LIBS)) -lm -pthread $(LDLIBS)

quiet   = $(if $(V),,@printf '  %s\n' '$(strip $(1))'; )

# Files that change only when their content does: what was compiled with which flags, and which objects there are.
define record
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
endef
$(BUILD)/flags: FORCE
	$(call record,$(COMPILE) $(COMPILE_CXX) $(LINK) $(ALL_LIBS) $(SO_LIBS))
# What concerns one file: an MPI that was installed since is no reason to compile everything.
$(BUILD)/mpi.flags: FORCE
	$(call record,$(MPI_CFLAGS) $(MPI_LIBS))
$(MPI_OBJ): $(BUILD)/mpi.flags
$(BUILD)/objects: FORCE
	$(call record,$(RUNTIME_OBJ) $(BINDING_OBJ) $(PROGRAM_OBJ))

$(CXX_OBJ): $(BUILD)/%.o: %.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(call quiet,c++ $<)$(CCACHE) $(COMPILE_CXX) $(EXTRA_$(notdir $*)) -MMD -MP -c $< -o $@

# Message formats become C before anything that may include them is compiled; what is generated answers to no warnings of ours.
$(PROTO_SRC): $(BUILD)/proto/%.pb-c.c: runtime/%.proto
	@mkdir -p $(@D)
	$(call quiet,protoc-c $<)protoc-c --proto_path=runtime --c_out=$(BUILD)/proto $<
$(PROTO_OBJ): %.o: %.c $(BUILD)/flags
	$(call quiet,cc $<)$(CCACHE) $(COMPILE) -w -c $< -o $@
$(RUNTIME_SRC:%.c=$(BUILD)/%.o): | $(PROTO_SRC)

$(BUILD)/bindings/lua_half.c: tests/tools/embed.lua $(STDLIB:%=stdlib/%) $(BUILD)/objects
	@mkdir -p $(@D)
	$(call quiet,embed stdlib)$(LUA) $< $@ $(STDLIB:%=stdlib/%)
$(LUA_HALF): %.o: %.c bindings/embed/open.h $(BUILD)/flags
	$(call quiet,cc $<)$(CCACHE) $(COMPILE) -Wno-overlength-strings -c $< -o $@

# Bindings hide what they do not say to show.
$(BINDING_OBJ) $(PROGRAM_OBJ) $(MPI_OBJ): OWN := -fvisibility=hidden
$(C_TESTS:=.o): OWN := $(TEST_OPT)
# In tests all targets are in one program, each under its own name.
$(FUZZ_OBJ): OWN = $(TEST_OPT) $(if $(FUZZING),,-DFUZZ_TARGET=fuzz_$(patsubst %_fuzz,%,$(notdir $*)))
$(filter-out $(CXX_OBJ) $(PROTO_OBJ) $(LUA_HALF),$(ALL_OBJ)): $(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call quiet,cc $<)$(CCACHE) $(COMPILE) $(OWN) $(EXTRA_$(notdir $*)) -MMD -MP -c $< -o $@

$(BUILD)/libpenumbra.a: $(CORE_OBJ)
$(BUILD)/libpenumbra_federated.a: $(FED_OBJ)
$(ARCHIVES): $(BUILD)/objects
	@rm -f $@
	$(call quiet,ar $@)$(AR) rcsD $@ $(filter %.o,$^)

# As installed: names that the runtime's files share among themselves are the linker's too, so they get a prefix that no host has.
STATIC := $(BUILD)/static/libpenumbra.a $(BUILD)/static/libpenumbra_federated.a
$(BUILD)/static/names: $(BUILD)/libpenumbra.a $(BUILD)/libpenumbra_federated.a
	@mkdir -p $(@D)
	@nm -g --defined-only $^ | awk 'NF == 3 && $$3 !~ /^(pn_|penumbra__|_Z|DW\.)/ { print $$3, "pn_private_" $$3 }' >$@
$(STATIC): $(BUILD)/static/%: $(BUILD)/% $(BUILD)/static/names
	$(call quiet,objcopy $@)$(OBJCOPY) -D --redefine-syms=$(BUILD)/static/names $< $@

# What a shared object shows to the world: of libpenumbra what installed headers declare, by a version, and beside it, for this very
# version of the Lua library alone, what the bindings need.  Under a sanitizer the module stays mapped, so that reports can name its lines.
SYMBOLS = $(LUA) bindings/package/symbols.lua
$(BUILD)/pn.map.new: $(HEADERS) $(BINDING_OBJ) $(RUNTIME_OBJ) bindings/package/symbols.lua bindings/package/headers.lua
	@$(SYMBOLS) map PENUMBRA_0.1 $(HEADERS) -- $(BINDING_OBJ) $(FED_OBJ) -- $(CORE_OBJ) >$@
$(BUILD)/federated.map.new: $(FED_HEADERS) $(BINDING_OBJ) $(FED_OBJ) bindings/package/symbols.lua bindings/package/headers.lua
	@$(SYMBOLS) map PENUMBRA_0.1 $(FED_HEADERS) -- $(BINDING_OBJ) -- $(FED_OBJ) >$@
$(BUILD)/pn.map $(BUILD)/federated.map: %: %.new
	@cmp -s $< $@ || cp $< $@
$(BUILD)/lua.map: FORCE
	$(call record,{ global: luaopen_penumbra_core; local: *; };)
$(BUILD)/mpi.map: FORCE
	$(call record,{ global: luaopen_penumbra_mpi; local: *; };)

$(BUILD)/$(SO): $(CORE_OBJ) $(BUILD)/objects $(BUILD)/pn.map
	$(call quiet,link $@)$(LINK) -shared $(if $(SAN),,-z defs) -Wl,-soname,$(SO) \
	    -Wl,--version-script=$(BUILD)/pn.map -o $@ $(CORE_OBJ) $(SO_LIBS)

$(BUILD)/$(FED_SO): $(FED_OBJ) $(BUILD)/objects $(BUILD)/libpenumbra.so $(BUILD)/federated.map
	$(call quiet,link $@)$(LINK) -shared $(if $(SAN),,-z defs) -Wl,-soname,$(FED_SO) \
	    -Wl,--version-script=$(BUILD)/federated.map -o $@ $(FED_OBJ) -L$(BUILD) -lpenumbra $(ALL_LIBS)

$(BUILD)/libpenumbra.so: $(BUILD)/$(SO)
	@ln -sf $(SO) $@

$(BUILD)/libpenumbra_federated.so: $(BUILD)/$(FED_SO)
	@ln -sf $(FED_SO) $@

# Lua's own functions come from the host's Lua, so they stay open here.
$(BUILD)/penumbra_lua.map: FORCE
	$(call record,PENUMBRA_0.1 { global: pnl_open; pnl_host_*; pnl_curator_*; luaopen_penumbra_core; local: *; };)
$(BUILD)/$(LUA_SO): $(BINDING_OBJ) $(BUILD)/objects $(BUILD)/libpenumbra.so $(BUILD)/libpenumbra_federated.so $(BUILD)/penumbra_lua.map
	$(call quiet,link $@)$(LINK) -shared -Wl,-soname,$(LUA_SO) -Wl,--version-script=$(BUILD)/penumbra_lua.map \
	    -o $@ $(BINDING_OBJ) -L$(BUILD) -lpenumbra_federated -lpenumbra $(LIBS)

$(BUILD)/libpenumbra_lua.so: $(BUILD)/$(LUA_SO)
	@ln -sf $(LUA_SO) $@

$(BUILD)/libpenumbra_lua.a: $(BINDING_OBJ) $(BUILD)/objects
	@rm -f $@
	$(call quiet,ar $@)$(AR) rcsD $@ $(BINDING_OBJ)

$(CORE): $(BINDING_OBJ) $(BUILD)/objects $(ARCHIVES) $(BUILD)/lua.map
	@mkdir -p $(@D)
	$(call quiet,link $@)$(LINK) -shared $(if $(SAN),-z nodelete) -Wl,--version-script=$(BUILD)/lua.map \
	    -o $@ $(BINDING_OBJ) $(ARCHIVES) $(ALL_LIBS)

# It stays mapped, for MPI is left when the process ends.
$(BUILD)/lua/penumbra/mpi.so: $(MPI_OBJ) $(BUILD)/objects $(BUILD)/mpi.map
	@mkdir -p $(@D)
	$(call quiet,link $@)$(LINK) -shared -z nodelete -Wl,--version-script=$(BUILD)/mpi.map -o $@ $(MPI_OBJ) $(MPI_LIBS)

# Under a sanitizer it starts in three quarters of the time where it stands at a fixed place: tests start it by the hundred.
$(BUILD)/penumbra: $(PROGRAM_OBJ) $(BINDING_OBJ) $(BUILD)/objects $(ARCHIVES)
	$(call quiet,link $@)$(LINK) $(if $(SAN),-no-pie,$(if $(HARDEN),-pie)) -o $@ $(PROGRAM_OBJ) $(BINDING_OBJ) $(ARCHIVES) \
	    $(PROGRAM_LIBS) $(ALL_LIBS)

# Of a file that moved or went, no copy stays: it would be found before the new one.
$(BUILD)/stdlib: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(STDLIB)' | cmp -s - $@ || \
	    { rm -rf $(BUILD)/lua/penumbra/*.lua $(BUILD)/lua/penumbra/*/; printf '%s\n' '$(STDLIB)' >$@; }

$(LUA_TREE): $(BUILD)/lua/penumbra/%: stdlib/% $(BUILD)/stdlib
	@mkdir -p $(@D)
	@cp $< $@

-include $(ALL_OBJ:.o=.d) $(MUTANT_OBJ:.o=.d) $(PEEK_OBJ:.o=.d)

# ---- tests ----

TREE     := $(abspath $(BUILD))
LUA_DIRS  = LUA_PATH='$(TREE)/lua/?.lua;$(TREE)/lua/?/init.lua;./?.lua;;' LUA_CPATH='$(TREE)/lua/?.so;;'
CLEAN_ENV = env -u LUA_INIT -u LUA_PATH_5_4 -u LUA_CPATH_5_4 $(LUA_DIRS) PENUMBRA='$(TREE)/penumbra'
# Sanitized trees leave out what tests other builds, the long audits, lessons and reproductions, whose every call has specs, and what
# draws, plays and grades in Lua alone.
NOT_SAN   = tests/build/% $(if $(filter-out thread,$(SAN)),$(addprefix tests/examples/,embed_spec.lua federated_spec.lua)) tests/examples/reproduce_spec.lua \
            tests/regress/mutants_spec.lua tests/regress/mutants_federated_test.c tests/bindings/curator/curator_process_spec.lua \
            tests/stdlib/lessons_spec.lua tests/stdlib/lesson_export_spec.lua tests/stdlib/lesson_kept_spec.lua \
            tests/stdlib/course_program_spec.lua tests/stdlib/plot_%
ALL_TESTS = $(sort $(shell find $(TESTS) -name '*_spec.lua')) $(filter $(foreach path,$(TESTS),$(basename $(path))%),$(C_TEST_SRC))
# The tests to which the thorough tier adds something say so: they ask for the tier, or for real data.  PART=2/5 takes every fifth of
# them; those that take a minute and more are dealt first, so that no part gets two.
ASKS      = check_thorough|check_times|fail_alloc_sweep|fail_scripts_sweep|tier\.(it|times|thorough)|PENUMBRA_DATA
LONG      = $(addprefix tests/,regress/mutants_spec.lua examples/reproduce_spec.lua stdlib/intervals/paid_spec.lua \
            bindings/core/boundary_test.c bindings/core/alloc_test.c bindings/core/usage_alloc_test.c crash/crash_test.c build/package_spec.lua stdlib/lessons_spec.lua \
            runtime/solvers/least_squares/sufficient_statistics_spec.lua \
            runtime/solvers/perturbation/objective_perturbation_test.c stdlib/intervals/curvature_spec.lua)
ASKING    = $(shell grep -lE '$(ASKS)' $(ALL_TESTS))
DEAL      = $(shell printf '%s\n' $(2) | awk -v part=$(1) 'BEGIN { split(part, k, "/") } NR % k[2] == k[1] % k[2]')
PART_OF   = $(call DEAL,$(1),$(filter $(LONG),$(ASKING)) $(filter-out $(LONG),$(ASKING)))
TAKEN     = $(if $(PART),$(call PART_OF,$(PART)),$(filter-out $(if $(OMIT),$(call PART_OF,$(OMIT))),$(ALL_TESTS)))
HERE      = $(filter-out $(if $(SAN),$(NOT_SAN)),$(TAKEN))
SPECS     = $(filter %.lua,$(HERE))
RUN_TESTS = $(patsubst %.c,$(BUILD)/%,$(filter %.c,$(HERE)))
# Real data belong to the thorough tier, and so do OpenBLAS's threads: in three jobs on two processors they wait for each other.
TIER_ENV  = $(if $(THOROUGH)$(PART),PN_THOROUGH=1 PN_FAILED_CALLS='$(TREE)/tests/failed_calls',env -u PN_THOROUGH -u PENUMBRA_DATA OPENBLAS_NUM_THREADS=1)
# The interpreter is not sanitized: what the modules need of a sanitizer is loaded before it, and into it alone.
RUNTIME_OF = $(if $(filter thread,$(1)),libtsan.so,$(if $(filter address,$(1)),libasan.so))
# Of large blocks, AddressSanitizer maps the shadow anew and gives the memory back at once, which takes longer than to clear and keep it.
# What was freed last it keeps from being used again, 256 MB by default, which are all touched: a sixth of the time.  The thorough tier does.
ASAN_SPEED := clear_shadow_mmap_threshold=16777216:allocator_release_to_os_interval_ms=-1$(if $(THOROUGH)$(PART),,:quarantine_size_mb=32)
ifneq ($(SAN),)
comma    := ,
ALONE    := $(BUILD)/tests/tools/alone.so
$(ALONE): tests/tools/alone.c
	@mkdir -p $(@D)
	$(call quiet,cc $<)$(CC) -shared -fPIC -O1 -o $@ $<
SAN_ENV   = PN_SANITIZED=1 PN_PRELOAD='$(shell $(CC) -print-file-name=$(call RUNTIME_OF,$(subst $(comma), ,$(SAN)))) $(abspath $(ALONE))' \
            ASAN_OPTIONS=detect_leaks=1:malloc_context_size=8:allocator_may_return_null=1:$(ASAN_SPEED) UBSAN_OPTIONS=print_stacktrace=1 \
            TSAN_OPTIONS=suppressions='$(CURDIR)/tests/tools/tsan.supp'
endif

# The runtime with all its names, which C tests call: linked once, and not into each of them.
TEST_SO  := $(BUILD)/tests/libruntime.so
$(TEST_SO): $(RUNTIME_OBJ) $(FAIL_OBJ) $(BUILD)/objects $(BUILD)/tests/wraps
	@mkdir -p $(@D)
	$(call quiet,link $@)$(LINK) -shared -o $@ @$(BUILD)/tests/wraps $(RUNTIME_OBJ) $(FAIL_OBJ) $(ALL_LIBS)
# Each allocating call goes to the wrapper of its function.
$(BUILD)/tests/wraps: tests/fail_calls.c tests/fail_lua.c
	@mkdir -p $(@D)
	@sed -nE 's/^(FAIL_CALLS_(NOTE|WRAP|DECLARE)|WRAP)\([^,]*, (\w+),.*/-Wl,--wrap=\3/p' $^ >$@

# What a test is linked from: its own object, the runtime and more.  C tests of bindings/ are their own Lua host; those of random/ read
# tables that a shared object hides; those of regress/ may carry the faults of core/mutant.h; some have a source of the runtime in them.
STATIC_TESTS := $(patsubst %.c,$(BUILD)/%,$(filter tests/runtime/random/% tests/regress/%,$(C_TEST_SRC)) \
    $(shell grep -lE '^.include ".*\.c"' $(C_TEST_SRC)))
WITH_PROGRAM := $(filter $(addprefix $(BUILD)/tests/,bindings/curator/serve% bindings/prompt/% crash/% fuzz/%),$(C_TESTS))
$(C_TESTS) $(BENCHES): %: %.o
	$(call quiet,link $@)$(LINK) -o $@ $(addprefix @,$(filter %/wraps,$^)) $(filter %.o,$^) $(filter %.a %.so,$^) \
	    -Wl,--allow-shlib-undefined,-rpath,'$(TREE)/tests' $(if $(findstring tests/bindings/,$@),$(LUA_LIBS)) \
	    $(if $(findstring $@,$(WITH_PROGRAM)),$(PROGRAM_LIBS)) $(ALL_LIBS)
$(STATIC_TESTS) $(BENCHES): $(ARCHIVES)
$(STATIC_TESTS): $(FAIL_OBJ)
$(C_TESTS): $(BUILD)/tests/wraps
$(filter $(addprefix $(BUILD)/tests/,bindings/% crash/% fuzz/%),$(C_TESTS)): $(FAIL_LUA)
# Both makers of the keystream, whichever the build has.
$(BUILD)/tests/runtime/random/keystream_test: LDLIBS += -lcrypto
$(filter-out $(STATIC_TESTS),$(C_TESTS)): $(TEST_SO)
$(filter $(BUILD)/tests/bindings/%,$(C_TESTS)): $(BINDING_OBJ) $(LONGJMP)
$(filter $(BUILD)/tests/regress/%,$(C_TESTS)): $(MUTANT_OBJ)
$(BUILD)/tests/fuzz/corpus_test: $(FUZZ_OBJ) $(FUZZED_OBJ)
$(filter-out $(BUILD)/tests/fuzz/%,$(WITH_PROGRAM)): $(FUZZED_OBJ)
$(BUILD)/tests/bindings/kernel/channels_test: $(addprefix $(BUILD)/bindings/kernel/,channels.o publish.o utf8.o)

$(MUTANT_OBJ) $(PEEK_OBJ): $(BUILD)/mutants/%.o: %.c $(BUILD)/flags | $(PROTO_SRC)
	@mkdir -p $(@D)
	$(call quiet,cc $@)$(CCACHE) $(COMPILE) -DPN_MUTANTS -MMD -MP -c $< -o $@

# It has no version in its path and no install rule: nothing but tests/regress/mutants_spec.lua loads it.
$(MUTANTS): $(MUTANT_OBJ) $(BINDING_OBJ) $(BUILD)/objects $(BUILD)/libpenumbra.a $(BUILD)/lua.map
	@mkdir -p $(@D)
	$(call quiet,link $@)$(LINK) -shared $(if $(SAN),-z nodelete) -Wl,--version-script=$(BUILD)/lua.map \
	    -o $@ $(BINDING_OBJ) $(MUTANT_OBJ) $(filter-out $(MUTANT_SRC:%.c=$(BUILD)/%.o),$(RUNTIME_OBJ)) $(ALL_LIBS)

$(PEEK): $(PEEK_OBJ) $(MUTANT_OBJ) $(PROGRAM_OBJ) $(BINDING_OBJ) $(BUILD)/objects $(BUILD)/libpenumbra.a
	$(call quiet,link $@)$(LINK) $(if $(HARDEN),-pie) -o $@ $(PEEK_OBJ) $(filter-out $(PEEK_SRC:%.c=$(BUILD)/%.o),$(PROGRAM_OBJ) $(BINDING_OBJ)) \
	    $(MUTANT_OBJ) $(filter-out $(MUTANT_SRC:%.c=$(BUILD)/%.o),$(RUNTIME_OBJ)) $(PROGRAM_LIBS) $(ALL_LIBS)

# What several specs install, each in a process of its own, is made before them: it stands in one place.
INSTALLED = $(if $(SAN),,$(if $(filter tests/build/% tests/examples/embed_spec.lua,$(SPECS)),docs $(STATIC)))
test: all $(if $(SAN),$(ALONE),$(MUTANTS) $(PEEK)) $(INSTALLED) $(RUN_TESTS) | $(BUILD)/setup/test ## Run the fast tier of the tests; TESTS=path runs a part of them
	@$(CLEAN_ENV) $(TIER_ENV) $(SAN_ENV) PN_LUA='$(LUA)' PN_BUSTED='$(BUSTED)' PN_BUILD='$(BUILD)' PN_CC='$(CC)' \
	    PN_COSTS='$(BUILD)/tests/costs' \
	    $(LUA) tests/tools/run_tests.lua $(abspath $(RUN_TESTS)) -- $(SPECS)

test-all: ## Run the thorough tier, in minutes where test takes seconds, also under sanitizers, and the C tests of clang
	@$(MAKE) THOROUGH=1 test
	@$(MAKE) THOROUGH=1 test-san
	@$(MAKE) test-threads
	@$(MAKE) CC=clang BUILD=$(BUILD)/clang TESTS=tests/runtime test benches

test-san: ## Run the fast tier under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) SAN=address,undefined BUILD=$(BUILD)/san test

# What works in threads: tests that start some, by themselves, by a kit, as workers of a task or as the reader of a large file, and
# the programs of examples that do.
THREADS  = pthread_create|zeromq_kit\.h|fake_ranks\.h|pn_task_new\(&[^,]*, [^1]|pn_dataset_load_(csv|libsvm)\(
THREADED = $(shell grep -lE '$(THREADS)' $(C_TEST_SRC)) $(addprefix tests/examples/,embed_spec.lua external_program_spec.lua federated_spec.lua)
test-threads: ## Run the tests that start threads, and the host programs of examples, under ThreadSanitizer
	@$(MAKE) SAN=thread BUILD=$(BUILD)/tsan TESTS='$(THREADED)' test

# Objects of -O1: at -O0 the tests take hours, from -O2 on the compiler merges branches.  What a killed or confined process ran is not
# counted, nor what a test ran of a source that it includes.
COVERED = $(BUILD)/coverage
COVERED_TREE = OPT='-O1 -g --coverage -fprofile-update=atomic' HARDEN= WERROR= BUILD=$(COVERED) \
    TESTS='$(if $(filter tests,$(TESTS)),tests/runtime tests/bindings tests/regress tests/stdlib,$(TESTS))'
coverage: | $(BUILD)/setup/coverage ## Run the fast tier of the tests and table which branches it takes, room by room
	@find $(COVERED) -name '*.gcda' -delete 2>/dev/null || true
	@$(MAKE) $(COVERED_TREE) all
	@$(MAKE) $(COVERED_TREE) test || echo "coverage: some tests failed; the table is of those that ran"
	@gcovr --root . --filter runtime/ --filter bindings/ --exclude-unreachable-branches --gcov-ignore-parse-errors \
	    --csv $(COVERED)/branches.csv $(COVERED)/runtime $(COVERED)/bindings
	@awk -f tests/tools/coverage.awk $(COVERED)/branches.csv

# A tree of clang's, instrumented for libFuzzer; targets take from the archives what they read with.
FUZZ_TREE = CC=clang CXX=clang++ SAN=fuzzer-no-link,address,undefined HARDEN= OPT='-O1 -g1' BUILD=$(BUILD)/fuzz FUZZING=1
$(BUILD)/fuzzed.a: $(FUZZED_OBJ) $(FUZZ_KIT:%.c=$(BUILD)/%.o) $(BUILD)/objects
	@rm -f $@
	$(call quiet,ar $@)$(AR) rcsD $@ $(filter %.o,$^)
$(FUZZERS): $(BUILD)/fuzzers/%: $(BUILD)/tests/fuzz/%_fuzz.o $(BUILD)/fuzzed.a $(ARCHIVES)
	@mkdir -p $(@D)
	$(call quiet,link $@)$(LINK) -fsanitize=fuzzer -o $@ $< $(BUILD)/fuzzed.a $(ARCHIVES) $(PROGRAM_LIBS) $(ALL_LIBS)

warnings: | $(BUILD)/setup/fuzz ## Compile everything but the C tests with clang, for its warnings, in the tree of the fuzzers
	@$(MAKE) -s $(FUZZ_TREE) $(patsubst $(BUILD)/%,$(BUILD)/fuzz/%,$(filter-out $(C_TESTS:=.o),$(ALL_OBJ)))

fuzz: $(if $(TARGET),| $(BUILD)/setup/fuzz) ## Fuzz one reader of bytes: TARGET=csv SECONDS=60; without TARGET, list them
	@$(if $(TARGET),,printf '%s\n' $(notdir $(FUZZERS)))
	@$(if $(TARGET),$(MAKE) -s $(FUZZ_TREE) $(BUILD)/fuzz/fuzzers/$(TARGET))
	@$(if $(TARGET),sh tests/fuzz/run.sh $(BUILD)/fuzz $(SECONDS) $(TARGET))

FUZZED = $(if $(PART),$(call DEAL,$(PART),$(FUZZERS)),$(FUZZERS))
fuzz-all: | $(BUILD)/setup/fuzz ## Fuzz every reader of bytes, each for SECONDS, and fail on a finding; PART=2/5 takes every fifth
	@$(MAKE) -s $(FUZZ_TREE) $(FUZZED:$(BUILD)/%=$(BUILD)/fuzz/%)
	@sh tests/fuzz/run.sh $(BUILD)/fuzz $(SECONDS) $(notdir $(FUZZED))

demo: all ## Train a private lasso in a minute: examples/private_lasso.lua
	@$(CLEAN_ENV) $(or $(PROGRAM),$(LUA)) examples/private_lasso.lua

repl: all ## Start the program
	@$(CLEAN_ENV) $(PROGRAM)

# ---- checks ----

LUA_CODE  = $(wildcard stdlib examples tests)
C_DIRS    = $(wildcard runtime bindings examples tests)
C_FILES   = $(sort $(shell find $(C_DIRS) -name '*.[ch]' -o -name '*.cc'))

check-layers: $(ARCHIVES) ## Refuse what points upward between the rooms and floors of runtime/
	@$(LUA) tests/tools/check_layers.lua . $(BUILD)/runtime

check-abi: all ## Refuse to take away names that programs which link the libraries rely on
	@sh bindings/package/check_abi.sh check $(BUILD)

abi: all ## Write down what the libraries show now, on purpose
	@sh bindings/package/check_abi.sh write $(BUILD)

# uninitvar is left to the compilers, which follow loops better.  __GNUC__ is never defined: what depends on it is attributes and one
# builtin, and nearly every file would be checked twice for them.
EACH_OF   = printf '%s\n' $(1) | xargs -P "$$(nproc)" -n 50
lint: check-layers check-abi | $(BUILD)/setup/lint ## Check format, style and common errors of C and Lua
	@sh tests/tools/check_files.sh
	@$(call EACH_OF,$(C_FILES)) clang-format --dry-run -Werror
	@$(call EACH_OF,$(shell find $(LUA_CODE) bindings/package -name '*.lua')) luacheck -q
	@mkdir -p $(BUILD)/cppcheck
	cppcheck -j"$$(nproc)" -q --cppcheck-build-dir=$(BUILD)/cppcheck --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	    --library=posix --library=tests/tools/cppcheck.cfg --suppress=missingIncludeSystem --suppress=uninitvar -U__GNUC__ \
	    $(INCLUDE) runtime bindings $(wildcard examples)

format: | $(BUILD)/setup/lint ## Rewrite the C files in the house format
	clang-format -i $(C_FILES)

# A Python that has numpy and scipy, for benchmarks that compare with it; they find it in $PYTHON.
PYTHON  ?= $(shell python3 -c 'import scipy' 2>/dev/null && echo python3 || echo /usr/bin/python3)
RUN_BENCH = for bench in $(2); do echo "== $$bench"; $(CLEAN_ENV) PYTHON='$(PYTHON)' $(1) $$bench || failed="$$failed $$bench"; done

benches: $(BENCHES) ## Build the benchmarks: build/tests/bench/NAME runs one

bench: all $(BENCHES) | $(BUILD)/setup/bench ## Run every benchmark in tests/bench; fail at the end if one did
	@failed=; $(call RUN_BENCH,,$(BENCHES)); $(call RUN_BENCH,sh,$(wildcard tests/bench/*.sh)); \
	    $(call RUN_BENCH,$(LUA),$(wildcard tests/bench/*.lua tests/bench/utility/*.lua)); \
	    [ -z "$$failed" ] || { echo "failed, or over a limit:$$failed"; exit 1; }

# One script a processor, each on one thread; the noise is seeded, so the numbers are the same however they run.
REPRODUCE = out=$(BUILD)/reproduce; log=$$out/$$(basename {} .lua).txt; \
    $(PROGRAM) {} $$out >$$log 2>&1; status=$$?; echo "== {}"; cat $$log; exit $$status

reproduce: all | $(BUILD)/setup/reproduce ## Measure what the papers promise: tables and figures in build/reproduce
	@mkdir -p $(BUILD)/reproduce
	@printf '%s\n' $(sort $(wildcard examples/reproduce/*/*.lua)) | \
	    $(CLEAN_ENV) PENUMBRA_THREADS=1 xargs -P "$$(nproc)" -I {} sh -c '$(REPRODUCE)'

# ---- documents ----

# From the table that help shows, from the headers, and from the Markdown documents with their pictures.
DOCS      := $(BUILD)/docs
DOCS_SRC  := $(wildcard bindings/package/*.lua bindings/package/site/*)
DOCUMENTS := $(sort $(wildcard *.md) $(shell find bindings examples runtime stdlib tests -name '*.md' -o -name '*.svg'))

docs: $(DOCS)/made ## Make the site, the manual page and the annotations for editors: build/docs
$(DOCS)/made: $(PROGRAM) $(CORE) $(LUA_TREE) $(DOCS_SRC) $(PUBLIC) $(DOCUMENTS) $(BUILD)/pandoc | $(BUILD)/setup/docs
	@rm -rf $(DOCS)
	$(call quiet,docs $(DOCS))$(CLEAN_ENV) $(PROGRAM) bindings/package/docs.lua $(DOCS) $(PUBLIC) $(DOCUMENTS)
	@touch $@
# Without pandoc there is a site all the same, of less: docs.lua says what is left out, and one that was installed since makes the rest.
$(BUILD)/setup/docs: tests/tools/setup.sh
	@sh $< docs $@ || { mkdir -p $(@D) && touch $@; }
$(BUILD)/pandoc: $(BUILD)/setup/docs FORCE
	$(call record,$(shell command -v pandoc))

picture: all | $(BUILD)/setup/picture ## Play a session in a terminal and draw it, and a plot: examples/pictures
	@$(CLEAN_ENV) sh examples/pictures/make.sh '$(PROGRAM)' '$(LUA)'

# ---- install ----

# The moment that the package gives as its own: that of the last commit, or of the first version's year where there is no history.
SOURCE_DATE_EPOCH ?= $(shell git ls-files --error-unmatch Makefile >/dev/null 2>&1 && git log -1 --format=%ct || echo 1767225600)

SBOM := $(BUILD)/penumbra.spdx.json
sbom: $(SBOM) ## List the parts and libraries with their licences, as SPDX: build/penumbra.spdx.json
$(SBOM): all bindings/package/sbom.lua bindings/package/copyright
	$(call quiet,sbom $@)SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(LUA) bindings/package/sbom.lua $(BUILD) $(VERSION) '$(CC)' >$@.$$$$ && mv -f $@.$$$$ $@

# A prefix that does not begin with / is seen from here.
ROOT      = $(if $(filter /%,$(firstword $(PREFIX))),$(PREFIX),$(CURDIR)/$(PREFIX))
TO        = $(DESTDIR)$(ROOT)
LIB_DIR   = $(TO)/$(LIB)
CLUA_DIR  = $(LIB_DIR)/lua/5.4/penumbra
LUA_DIR   = $(TO)/share/lua/5.4/penumbra
MAN       = $(TO)/share/man/man1/penumbra.1
LUALS_DIR = $(TO)/share/penumbra
DOC_DIR   = $(TO)/share/doc/penumbra
EXAMPLES  = $(sort $(filter-out examples/federated/run/%,$(shell find examples -type f ! -name '.*')))
INSTALL   = install -D -m 644
# Files $(2), seen from folder $(1), to the same places in folder $(3): one process for each folder, not for each file.
INSTALL_TREE = @$(foreach dir,$(sort $(dir $(2))),$(INSTALL) -t '$(3)/$(dir)' \
	    $(foreach file,$(2),$(if $(filter $(dir),$(dir $(file))),$(1)/$(file))) && ) true
# A pkg-config file: $(1) is its source, without .in; it is written where it belongs, as other installations may run beside this one.
PC        = @mkdir -p '$(LIB_DIR)/pkgconfig' && rm -f '$(LIB_DIR)/pkgconfig/$(notdir $(1))' && \
	    sed 's|@PREFIX@|$(ROOT)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(strip $(LIBS))|; s|@FEDERATED_LIBS@|$(strip $(FEDERATED_LIBS))|; s|@LIB@|$(LIB)|; s|@LUA@|$(LUA_PC)|' $(1).in \
	    >'$(LIB_DIR)/pkgconfig/$(notdir $(1))' && chmod 644 '$(LIB_DIR)/pkgconfig/$(notdir $(1))'

install: all docs $(STATIC) $(SBOM) ## Install below DESTDIR/PREFIX
	$(call INSTALL_TREE,runtime,$(patsubst runtime/%,%,$(HEADERS) $(FED_HEADERS)),$(TO))
	@$(INSTALL) bindings/embed/penumbra_lua.h '$(TO)/include/penumbra_lua.h'
	$(call INSTALL_TREE,stdlib,$(STDLIB),$(LUA_DIR))
	$(INSTALL) $(BUILD)/static/libpenumbra.a '$(LIB_DIR)/libpenumbra.a'
	$(INSTALL) $(BUILD)/static/libpenumbra_federated.a '$(LIB_DIR)/libpenumbra_federated.a'
	$(INSTALL) $(BUILD)/$(SO) '$(LIB_DIR)/$(SO)'
	ln -sf $(SO) '$(LIB_DIR)/libpenumbra.so'
	$(INSTALL) $(BUILD)/$(FED_SO) '$(LIB_DIR)/$(FED_SO)'
	ln -sf $(FED_SO) '$(LIB_DIR)/libpenumbra_federated.so'
	$(INSTALL) $(CORE) '$(CLUA_DIR)/core.so'
	$(if $(MPI),$(INSTALL) $(MPI) '$(CLUA_DIR)/mpi.so')
	$(INSTALL) $(BUILD)/libpenumbra_lua.a '$(LIB_DIR)/libpenumbra_lua.a'
	$(INSTALL) $(BUILD)/$(LUA_SO) '$(LIB_DIR)/$(LUA_SO)'
	ln -sf $(LUA_SO) '$(LIB_DIR)/libpenumbra_lua.so'
	$(call PC,runtime/penumbra.pc)
	$(call PC,runtime/penumbra-federated.pc)
	$(call PC,bindings/embed/penumbra-lua.pc)
	$(if $(PROGRAM),install -D $(PROGRAM) '$(TO)/bin/penumbra')
	$(if $(PROGRAM),$(CLEAN_ENV) $(PROGRAM) kernel --install --prefix '$(TO)' --program '$(ROOT)/bin/penumbra')
	$(INSTALL) $(DOCS)/man/penumbra.1 '$(MAN)'
	@rm -rf '$(LUALS_DIR)' '$(DOC_DIR)/html'
	@mkdir -p '$(LUALS_DIR)' '$(DOC_DIR)'
	cp -r $(DOCS)/luals '$(LUALS_DIR)/luals'
	cp -r $(DOCS)/html '$(DOC_DIR)/html'
	$(INSTALL) bindings/curator/CURATOR.md '$(DOC_DIR)/CURATOR.md'
	$(INSTALL) runtime/model/MODEL-JSON.md '$(DOC_DIR)/MODEL-JSON.md'
	$(INSTALL) SECURITY.md '$(DOC_DIR)/SECURITY.md'
	$(INSTALL) $(SBOM) '$(DOC_DIR)/penumbra.spdx.json'
	$(call INSTALL_TREE,.,$(EXAMPLES),$(DOC_DIR))

# What luarocks puts into its tree: bindings/package/*.rockspec.
install-rock: all
	$(call INSTALL_TREE,stdlib,$(STDLIB),$(ROCK_LUA)/penumbra)
	@$(INSTALL) $(CORE) '$(ROCK_LIB)/penumbra/core.so'
	@$(if $(MPI),$(INSTALL) $(MPI) '$(ROCK_LIB)/penumbra/mpi.so')

uninstall: ## Remove what install put there
	rm -rf '$(TO)/include/penumbra' '$(CLUA_DIR)' '$(LUA_DIR)' '$(LUALS_DIR)' '$(DOC_DIR)' '$(TO)/share/jupyter/kernels/penumbra'
	rm -f '$(TO)/include/penumbra.h' '$(TO)/include/penumbra_lua.h' '$(TO)/bin/penumbra' '$(LIB_DIR)/pkgconfig/penumbra.pc' '$(LIB_DIR)/pkgconfig/penumbra-federated.pc' \
	    '$(LIB_DIR)/pkgconfig/penumbra-lua.pc' '$(MAN)' '$(LIB_DIR)/libpenumbra'.* '$(LIB_DIR)/libpenumbra_federated'.* \
	    '$(LIB_DIR)/libpenumbra_lua'.*

deb: all docs | $(BUILD)/setup/package ## Make a Debian package: build/penumbra_0.1.0_amd64.deb
	@rm -rf $(BUILD)/deb
	@$(MAKE) -s install DESTDIR=$(BUILD)/deb/root PREFIX=/usr LIB=lib/$(shell $(CC) -print-multiarch)
	@SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) sh bindings/package/deb.sh $(BUILD) $(VERSION)

# ---- help ----

setup: ## Install what all targets need (Debian), or say what is missing
	@sh tests/tools/setup.sh 'build test lint bench reproduce package picture docs coverage fuzz'

clean: ## Remove everything that was built
	rm -rf $(BUILD)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
