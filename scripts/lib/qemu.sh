# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The base tree: QEMU's source, our patches, a configured and built tree
# with an empty place for the model. Needs common.sh and apt.sh.

QEMU_SUITE=trixie
QEMU_HOME=$CACHE/qemu
# The place of the model in QEMU's source; it mirrors our qemu/ folder.
MODEL_PLACE=hw/mocx

QEMU_FLAGS=(
	--python=/usr/bin/python3 --target-list=x86_64-softmmu
	--without-default-features --without-default-devices
	--with-devices-x86_64=crnic --enable-tcg --enable-kvm --enable-fdt
	--disable-docs --disable-install-blobs --disable-user --disable-tools
	--disable-guest-agent --disable-debug-info --disable-werror
	--disable-download
)

# What decides the base tree. The point release does not: a cached tree
# serves until the recipe changes.
qemu_base_key() {
	{
		hash_of scripts/lib/qemu.mak scripts/lib/qemu.sh qemu/patches
		echo "$QEMU_SERIES ${QEMU_FLAGS[*]} $KERNEL_SERIES"
		host_suite
		gcc -dumpfullversion
	} | sha256sum | cut -c1-16
}

# A distribution too old for QEMU gets meson from backports, unpacked: it
# is plain Python.
meson_path() {
	local dir=$CACHE/meson
	if python3 -c 'import mesonbuild.coredata as c, pycotap
v = [int(x) for x in c.version.split(".")[:2]]
raise SystemExit(v < [1, 5])' 2>/dev/null; then
		return
	fi
	if [ ! -e "$dir/.done" ]; then
		rm -rf "$dir"
		deb_fetch "$(host_suite)" "$dir/debs" \
			"meson/$(host_suite)-backports" \
			"python3-pycotap/$(host_suite)-backports"
		deb_unpack "$dir/root" "$dir"/debs/*.deb
		touch "$dir/.done"
	fi
	echo "$dir/root/usr/lib/python3/dist-packages"
}

qemu_unpack() {
	local src=$1 tarball p
	tarball=$(src_fetch "$QEMU_SUITE" "$QEMU_HOME/source" qemu)
	case ${tarball##*/} in
	qemu_"$QEMU_SERIES".*) ;;
	*) die "expected QEMU $QEMU_SERIES, the mirror has ${tarball##*/}" ;;
	esac
	make_dirs "$src"
	step qemu-unpack "unpacking ${tarball##*/}" \
		tar -C "$src" --strip-components=1 -xf "$tarball"
	for p in "$TOP"/qemu/patches/*.patch; do
		step qemu-patch "applying ${p##*/}" patch -d "$src" -p1 -i "$p"
	done
	cp "$TOP/scripts/lib/qemu.mak" \
		"$src/configs/devices/x86_64-softmmu/crnic.mak"
	qemu_placeholder "$src/$MODEL_PLACE/hw"
}

# The base is built before and without the model.
qemu_placeholder() {
	make_dirs "$1"
	printf 'config MOCX\n    bool\n    depends on PCI\n' >"$1/Kconfig"
	: >"$1/meson.build"
	: >"$1/trace-events"
	echo '#include "trace/trace-hw_mocx_hw.h"' >"$1/trace.h"
}

qemu_configure() {
	local base=$1 headers=$2 path
	path=$(meson_path)
	make_dirs "$base/build"
	(
		cd "$base/build"
		export PYTHONPATH=$path
		step qemu-configure "configuring QEMU" ../src/configure \
			"${QEMU_FLAGS[@]}" --extra-cflags="-isystem $headers"
	)
}

# qemu_ninja BASE LOG WHAT
qemu_ninja() {
	local path
	path=$(meson_path)
	PYTHONPATH=$path step "$2" "$3" \
		ninja -C "$1/build" -j "$JOBS" qemu-system-x86_64
}

# qemu_base - print the directory of a built base tree, built if need be.
qemu_base() {
	local base headers
	base=$QEMU_HOME/base-$(qemu_base_key)
	if [ ! -e "$base/.done" ]; then
		make_dirs "$base"
		has_room "$base" 2500
		headers=$("$TOP/scripts/model-headers")
		rm -rf "$base"
		qemu_unpack "$base/src"
		qemu_configure "$base" "$headers"
		qemu_ninja "$base" qemu-base \
			"building QEMU (8 minutes on 2 cores)"
		touch "$base/.done"
	fi
	echo "$base"
}
