# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The userland that guests share, read-only. Needs common.sh and apt.sh.

GUEST_HOME=$CACHE/guest

guest_packages() { grep -v '^#' "$TOP/lab/guest/packages" | paste -sd,; }

# The proxies of the machine's apt, which mmdebstrap does not read.
apt_proxies() {
	apt-config dump --format '%f "%v";%n' Acquire::http::Proxy \
		Acquire::https::Proxy | grep -v '""' || true
}

# make_rootfs SUITE IMAGE - a Debian as mmdebstrap leaves it. Our own few
# files come with the initramfs, so that a change of theirs is cheap.
make_rootfs() {
	local proxies=()
	mapfile -t proxies < <(apt_proxies)
	suite_sources "$1" | grep '^deb ' | grep -v -e "-backports" |
		mmdebstrap --variant=minbase --format=ext2 \
			--include="$(guest_packages)" \
			"${proxies[@]/#/--aptopt=}" \
			--dpkgopt='path-exclude=/usr/share/man/*' \
			--dpkgopt='path-exclude=/usr/share/locale/*' \
			--dpkgopt='path-exclude=/usr/share/doc/*' \
			--dpkgopt='path-include=/usr/share/doc/python3-pyverbs/*' \
			--customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*' \
			"$1" "$2"
}

# guest_rootfs SUITE - print the path of its root image.
guest_rootfs() {
	local image
	image=$(hash_of lab/guest/packages scripts/lib/rootfs.sh)
	image=$GUEST_HOME/rootfs-$1-$image.ext2
	if [ ! -e "$image" ]; then
		make_dirs "$GUEST_HOME"
		has_room "$GUEST_HOME" 1500
		[ -e "$KEYRING" ] || die "missing $KEYRING: run scripts/deps"
		rm -f "$GUEST_HOME/rootfs-$1-"*.new.ext2
		step "guest-$1" "building the guest image of $1 (1 minute)" \
			make_rootfs "$1" "${image%.ext2}.new.ext2"
		mv "${image%.ext2}.new.ext2" "$image"
	fi
	echo "$image"
}
