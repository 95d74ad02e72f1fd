# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The kernel called "debug": Debian's source of the pinned series, built with
# what finds a driver's mistakes (scripts/lib/debug.config) and laid out as an
# unpacked package is. Needs common.sh, apt.sh and kernel.sh.

DEBUG_CONFIG=$TOP/scripts/lib/debug.config

debug_kernel_key() {
	{
		hash_of scripts/lib/debug-kernel.sh scripts/lib/debug.config
		echo "$KERNEL_SERIES"
		host_suite
		gcc -dumpfullversion
	} | sha256sum | cut -c1-16
}

# debug_make SOURCE BUILD ARGUMENT... - with the key in the release's name:
# what is made from one kernel is never taken for another's.
debug_make() {
	local source=$1 build=$2
	shift 2
	make -s -C "$source" O="$build" -j "$JOBS" \
		LOCALVERSION="-debug-$(debug_kernel_key)" "$@"
}

# debug_configure SOURCE BUILD - and refuse a kernel that lacks what was
# asked for: kconfig drops a line whose conditions do not hold.
debug_configure() {
	local line missing=0
	debug_make "$1" "$2" KCONFIG_ALLCONFIG="$DEBUG_CONFIG" allnoconfig
	while read -r line; do
		grep -qxF "$line" "$2/.config" && continue
		echo "error: not in the configuration: $line"
		missing=1
	done < <(grep '^CONFIG_' "$DEBUG_CONFIG")
	return "$missing"
}

# debug_lay_out SOURCE BUILD DIR - root/boot, root/lib/modules, kdir, release.
debug_lay_out() {
	local rel
	rel=$(<"$2/include/config/kernel.release")
	make_dirs "$3/root/boot"
	cp "$2/arch/x86/boot/bzImage" "$3/root/boot/vmlinuz-$rel"
	debug_make "$1" "$2" INSTALL_MOD_PATH="$3/root" INSTALL_MOD_STRIP=1 \
		modules_install
	ln -sfn build "$3/kdir"
	echo "$rel" >"$3/release"
}

# debug_kernel - print the directory of the built kernel.
debug_kernel() {
	local dir source key
	dir=$CACHE/kernel/debug
	key=$(debug_kernel_key)
	if [ "$(cat "$dir/.done" 2>/dev/null)" != "$key" ]; then
		make_dirs "$dir"
		has_room "$dir" 3000
		rm -rf "$dir"
		source=$(lock linux-source && linux_source "$KERNEL_SERIES")
		make_dirs "$dir/build"
		step debug-config "configuring the debug kernel" \
			debug_configure "$source" "$dir/build"
		step debug-kernel "building the debug kernel (12 minutes on 2 cores)" \
			debug_make "$source" "$dir/build" bzImage modules
		step debug-install "laying out the debug kernel" \
			debug_lay_out "$source" "$dir/build" "$dir"
		echo "$key" >"$dir/.done"
	fi
	echo "$dir"
}
