# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A UML kernel with the driver inside, for KUnit. As for QEMU, there is a
# base tree in the cache, and the checkout is synced into it. Needs
# common.sh, apt.sh and kernel.sh.

# The place of the repository in the kernel's source.
KUNIT_PLACE=drivers/crnic
KUNIT_PARTS=(drivers include kunit Kbuild Kconfig)

kunit_key() {
	{
		hash_of scripts/lib/kunit.sh scripts/lib/kunit.config
		grep -P '^\tselect ' "$TOP/Kconfig"
		echo "$KERNEL_SERIES"
		host_suite
		gcc -dumpfullversion
	} | sha256sum | cut -c1-16
}

kunit_py() {
	local base=$1 verb=$2
	shift 2
	# The build directory is outside of the source, which stays clean.
	(cd "$base/src" && ./tools/testing/kunit/kunit.py "$verb" --arch=um \
		--build_dir="$base/build" "$@")
}

kunit_unpack() {
	local base=$1 source
	source=$(linux_source "$KERNEL_SERIES")
	make_dirs "$base"
	cp -a "$source" "$base/src"
	make_dirs "$base/src/$KUNIT_PLACE"
	# What the driver selects is in the base as well, or half of it would
	# be built again.
	{
		printf 'config CRNIC\n\tbool\n\n'
		printf 'config CRNIC_BASE\n\tdef_bool y\n'
		grep -P '^\tselect ' "$TOP/Kconfig"
	} >"$base/src/$KUNIT_PLACE/Kconfig"
	echo "obj-\$(CONFIG_CRNIC) += crnic/" >>"$base/src/drivers/Makefile"
	sed -i "s#^endmenu#source \"$KUNIT_PLACE/Kconfig\"\n\nendmenu#" \
		"$base/src/drivers/Kconfig"
}

# kunit_base - print the directory of a built base tree.
kunit_base() {
	local base
	base=$CACHE/kunit/base-$(kunit_key)
	if [ ! -e "$base/.done" ]; then
		make_dirs "$base"
		has_room "$base" 5000
		rm -rf "$base"
		kunit_unpack "$base"
		step kunit-config "configuring the UML kernel" kunit_py "$base" \
			config --kunitconfig="$TOP/scripts/lib/kunit.config"
		step kunit-base "building the UML kernel (8 minutes on 2 cores)" \
			kunit_py "$base" build --jobs "$JOBS" \
			--kunitconfig="$TOP/scripts/lib/kunit.config"
		touch "$base/.done"
	fi
	echo "$base"
}

# kunit_sync BASE - the checkout's driver goes into the tree.
kunit_sync() {
	local part place=$1/src/$KUNIT_PLACE
	for part in "${KUNIT_PARTS[@]}"; do
		[ -e "$TOP/$part" ] || continue
		rsync -rl --checksum --delete --exclude='*.o' --exclude='.*.cmd' \
			"$TOP/$part" "$place/"
	done
	cat "$TOP/scripts/lib/kunit.config" "$TOP/kunit/kunitconfig" \
		>"$1/kunitconfig"
}
