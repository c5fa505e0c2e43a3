#!/bin/sh
# setup.sh -- see that what a target needs is there; on Debian and its kin install what is missing.
# Usage: setup.sh "GROUP ..." [STAMP]     GROUP is build, test, lint, bench, reproduce, package, picture, docs, coverage, fuzz or ci; what several lack is said, or
# installed, at once.  STAMP is written at the end; for build alone it is a piece of Makefile that holds the flags of the libraries.
# Depends on: POSIX sh.  Used by: Makefile, .ci/run.
set -eu

groups=$1
stamp=${2:-}

# kind:thing:Debian package.  cmd is a program, lib a pkg-config module (or module|module where names differ between
# systems), header a C header, lua a Lua 5.4 module, fuzzer the runtime of clang's fuzzers.
needs_build="cmd:gcc:gcc cmd:g++:g++ cmd:make:make cmd:ar:binutils header:stdio.h:libc6-dev cmd:pkg-config:pkg-config
    cmd:lua5.4|lua:lua5.4 lib:lua5.4|lua-5.4|lua54|lua:liblua5.4-dev lib:openblas:libopenblas-dev
    header:lapack.h:liblapacke-dev lib:libsodium:libsodium-dev lib:zlib:zlib1g-dev lib:readline:libreadline-dev
    lib:libseccomp:libseccomp-dev lib:sleef:libsleef-dev
    header:xxhash.h:libxxhash-dev lib:libzmq:libzmq3-dev
    lib:libprotobuf-c:libprotobuf-c-dev cmd:protoc-c:protobuf-c-compiler lib:jansson:libjansson-dev"
needs_test="cmd:busted:lua-busted cmd:gnuplot:gnuplot-nox lib:ompi-c:libopenmpi-dev cmd:mpirun:openmpi-bin cmd:tmux:tmux
    cmd:python3:python3 python:numpy:python3-numpy lib:libcrypto:libssl-dev
    python:jupyter_kernel_test:python3-jupyter-kernel-test
    python:jupyter_client:python3-jupyter-client python:nbclient:python3-nbclient"
needs_lint="cmd:clang:clang cmd:clang-format:clang-format cmd:cppcheck:cppcheck
    cmd:luacheck:lua-check"
needs_bench="cmd:valgrind:valgrind cmd:python3:python3 python:numpy:python3-numpy python:scipy:python3-scipy cmd:liblinear-train:liblinear-tools"
needs_reproduce="cmd:gnuplot:gnuplot-nox"
needs_package="cmd:luarocks:luarocks cmd:dpkg-deb:dpkg cmd:dpkg-shlibdeps:dpkg-dev cmd:lintian:lintian"
needs_picture="cmd:tmux:tmux cmd:gnuplot:gnuplot-nox"
needs_docs="cmd:pandoc:pandoc"
needs_coverage="cmd:gcovr:gcovr"
needs_ci="cmd:ccache:ccache"
needs_fuzz="cmd:clang:clang cmd:clang++:clang fuzzer:libFuzzer:libclang-rt-dev"

# The first of a|b|c that `$2 x` accepts.
first_of()
{
    for candidate in $(echo "$1" | tr '|' ' '); do
        if $2 "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

has_module()
{
    pkg-config --exists "$1"
}

# Looks for a Python module; to import it can take a second.
finds_module()
{
    "$1" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$2') is None)" >/dev/null 2>&1
}

has()
{
    case $1 in
    cmd) first_of "$2" "command -v" >/dev/null ;;
    lib) command -v pkg-config >/dev/null && first_of "$2" has_module >/dev/null ;;
    header) printf '#include <%s>\n' "$2" | g++ -E -x c++ - >/dev/null 2>&1 ;;
    fuzzer) echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -fsanitize=fuzzer,address -x c -o /dev/null - >/dev/null 2>&1 ;;
    python) finds_module python3 "$2" || finds_module /usr/bin/python3 "$2" ;;
    esac
}

# Prints "thing:package" for each need that is not met.
missing_of()
{
    for need in $1; do
        kind=${need%%:*}
        thing=${need#*:}
        package=${thing##*:}
        thing=${thing%:*}
        has "$kind" "$thing" || echo "$thing:$package"
    done
}

refuse()
{
    echo "setup: $1" >&2
    exit 1
}

apt()
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

install_packages()
{
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || refuse "these packages are missing; as root run
    apt-get install $*"
        as_root=sudo
    fi
    echo "setup: installing what \`$groups\` needs: $*"
    ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1 || apt update
    apt install -y --no-install-recommends "$@" >/dev/null ||
        { apt update && apt install -y --no-install-recommends "$@" >/dev/null; } ||
        refuse "could not install them; as root run
    apt-get update && apt-get install $*"
}

# The flags, as Makefile variables.
write_config()
{
    libs="openblas libsodium zlib sleef jansson"
    federated="libzmq libprotobuf-c"
    lua=$(first_of "lua5.4|lua-5.4|lua54|lua" has_module)
    case $(pkg-config --modversion "$lua") in
    5.4*) ;;
    *) refuse "Lua 5.4 is needed, pkg-config finds $(pkg-config --modversion "$lua")" ;;
    esac
    echo "# Written by setup.sh; make clean removes it."
    echo "LUA := $(first_of "lua5.4|lua" "command -v")"
    echo "BUSTED := $(command -v busted || echo /usr/bin/busted)"
    echo "DEP_CFLAGS := $(pkg-config --cflags $libs $federated)"
    echo "DEP_LIBS := $(pkg-config --libs $libs) -lstdc++" # for decimal.cc
    echo "PROTOBUF_LIBS := $(pkg-config --libs libprotobuf-c)"
    echo "FEDERATED_LIBS := $(pkg-config --libs $federated)"
    echo "LUA_PC := $lua"
    echo "LUA_CFLAGS := $(pkg-config --cflags "$lua")"
    echo "LUA_LIBS := $(pkg-config --libs "$lua")"
    echo "SECCOMP_LIBS := $(pkg-config --libs libseccomp)"
    echo "READLINE_LIBS := $(pkg-config --libs readline)"
}

needs=
for group in $groups; do
    eval "of_group=\${needs_$group:-}"
    [ -n "$of_group" ] || refuse "there is no group '$group'; there are build, test, lint, bench, reproduce, package, picture, docs, coverage, fuzz and ci"
    needs="$needs $of_group"
done
missing=$(missing_of "$needs" | sort -u)
if [ -n "$missing" ]; then
    if command -v apt-get >/dev/null; then
        install_packages $(echo "$missing" | sed 's/.*://' | sort -u)
        missing=$(missing_of "$needs" | sort -u)
    fi
    things=$(echo "$missing" | sed 's/:.*//')
    packages=$(echo "$missing" | sed 's/.*://')
    [ -z "$missing" ] || refuse "\`$groups\` needs, and this system does not have: $(echo $things)
    Install them with your package manager (Debian calls them: $(echo $packages))."
fi

if [ -n "$stamp" ]; then
    mkdir -p "$(dirname "$stamp")"
    case $groups in
    build) write_config >"$stamp.new" ;;
    *) : >"$stamp.new" ;;
    esac
    mv "$stamp.new" "$stamp"
fi
