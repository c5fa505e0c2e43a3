#!/bin/sh
# deb.sh -- a Debian package of what `make install DESTDIR=BUILD/deb/root PREFIX=/usr` put down.
# Usage: SOURCE_DATE_EPOCH=SECONDS deb.sh BUILD VERSION        writes BUILD/penumbra_VERSION_ARCH.deb
# The same files make the same bytes: whenever, wherever, by whomever.
# Depends on: dpkg-deb, dpkg-shlibdeps, strip, gzip.  Used by: make deb.
set -eu

build=$1 version=$2
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH DPKG_DEB_THREADS_MAX=1
root=$build/deb/root
arch=$(dpkg --print-architecture)
doc=$root/usr/share/doc/penumbra
libs=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer="Penumbra developers <penumbra@example.invalid>"
umask 022

# Debian's ways: stripped, a compressed manual, shared libraries without execute permission.
find "$root" -type f \( -name '*.so' -o -name '*.so.*' \) -exec strip --strip-unneeded --remove-section=.comment {} +
strip --strip-all --remove-section=.comment "$root/usr/bin/penumbra"
find "$libs" -name '*.a' -exec strip --strip-debug --remove-section=.comment --enable-deterministic-archives {} +
gzip -9nf "$root/usr/share/man/man1/penumbra.1"
cp bindings/package/copyright "$doc/copyright"
gzip -9nc CHANGELOG.md >"$doc/NEWS.gz"
printf 'penumbra (%s) unstable; urgency=medium\n\n  * Release %s: see NEWS.gz.\n\n -- %s  %s\n' "$version" "$version" "$maintainer" \
    "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9nc >"$doc/changelog.gz"
mkdir -p "$root/usr/share/lintian/overrides"
cat >"$root/usr/share/lintian/overrides/penumbra" <<EOF
# One package for all: the program and the Lua module need no shared library of it, and hosts want headers and libraries together.
penumbra: link-to-shared-library-in-wrong-package
penumbra: package-name-doesnt-match-sonames
EOF
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -exec chmod 644 {} +
chmod 755 "$root/usr/bin/penumbra"

# Who needs which library: dpkg-shlibdeps wants to find a source package around it.
mkdir -p "$build/deb/debian"
printf 'Source: penumbra\n\nPackage: penumbra\nArchitecture: any\n' >"$build/deb/debian/control"
objects=$(cd "$build/deb" && find root \( -name '*.so' -o -name '*.so.0' -o -path '*/bin/penumbra' \) -type f)
# mpi.so is loaded under mpirun only: its libraries are a suggestion.
needs=$(cd "$build/deb" && dpkg-shlibdeps --ignore-missing-info -l"root${libs#"$root"}" -xpenumbra -O \
    $(echo "$objects" | grep -v '/mpi\.so$') 2>shlibdeps.log | sed -n 's/^shlibs:Depends=//p')
[ -n "$needs" ] || { cat "$build/deb/shlibdeps.log" >&2; exit 1; }
headers="libopenblas-dev, liblapacke-dev, libsodium-dev, zlib1g-dev, libsleef-dev, libzmq3-dev, libprotobuf-c-dev, libjansson-dev, liblua5.4-dev"

control=$root/DEBIAN
rm -rf "$control"
mkdir -p "$control"
cat >"$control/control" <<EOF
Package: penumbra
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(find "$root" -path "$control" -prune -o -printf '%y %s\n' |
    awk '{ kib += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print kib }')
Section: math
Priority: optional
Depends: $needs
Recommends: lua5.4, gnuplot-nox | gnuplot
Suggests: openmpi-bin, gcc, pkg-config, $headers
Provides: lua-penumbra, libpenumbra0, libpenumbra-dev
Description: differentially private optimization in C, with a Lua front
 Penumbra certifies the sensitivity of an objective, plans the noise, shows
 what a run will cost before anything is spent, charges a ledger before each
 noise is drawn, and trains.  Constraint sets, potentials, losses and solvers
 compose in Lua; every loop over records or coordinates runs in C.
 .
 This package has the program penumbra, the module for Lua 5.4, the libraries
 and headers for C hosts, the handbook and reference, and annotations for
 editors.
EOF
printf 'activate-noawait ldconfig\n' >"$control/triggers"
printf 'libpenumbra 0 penumbra (>= %s)\nlibpenumbra_federated 0 penumbra (>= %s)\nlibpenumbra_lua 0 penumbra (>= %s)\n' \
    "$version" "$version" "$version" >"$control/shlibs"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -print | sed 's|^\./||' | sort | xargs -d '\n' md5sum) >"$control/md5sums"
chmod 644 "$control"/*

find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
package=$build/penumbra_${version}_$arch.deb
dpkg-deb -Zxz --root-owner-group --build "$root" "$package" >/dev/null
echo "$package: $(du -h "$package" | cut -f1), needs $needs"
