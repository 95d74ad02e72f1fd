# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The module is built in a copy of its sources, so that kernels of several
# series do not trip over one another's objects. Needs common.sh.

MODULE_PARTS=(drivers include kunit Kbuild Kconfig)

module_sources() { compgen -G "$TOP/drivers/infiniband/hw/crnic/*.c" >/dev/null; }

# module_sync DIR
module_sync() {
	local part
	make_dirs "$1"
	for part in "${MODULE_PARTS[@]}"; do
		[ -e "$TOP/$part" ] || continue
		rsync -rl --checksum --delete --exclude='*.o' --exclude='*.cmd' \
			--exclude='*.mod' --exclude='*.mod.c' \
			"$TOP/$part" "$1/"
	done
}

# module_make KDIR DIR ARGUMENT... - kbuild in that copy, with the paths
# of messages made those of the checkout.
module_make() {
	local kdir=$1 dir=$2
	shift 2
	make -C "$kdir" M="$dir" -j "$JOBS" "$@" 2>&1 | sed -u "s#$dir/##g"
}
