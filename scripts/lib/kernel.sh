# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Debian's kernel packages, unpacked into the cache and never installed:
# the image for guests, the headers to build modules against, the source
# for KUnit and checkpatch. Needs common.sh and apt.sh.

. "$TOP/scripts/lib/debug-kernel.sh"

# kernel_suite SERIES - the suite that has it. The machine's own comes
# first, since the headers bring programs that must run here.
kernel_suite() {
	case $1 in
	6.1) echo bookworm ;;
	"$KERNEL_SERIES") host_suite ;;
	*) echo "$(host_suite)-backports" ;;
	esac
}

kernel_image_package() {
	local name
	name=$(deb_newest "${1%-backports}" \
		"linux-image-${2//./\\.}\.[.0-9]+(-[0-9]+)?(\+[a-z0-9]+)?-amd64")
	[ -n "$name" ] || case $2 in
	6.1 | "$KERNEL_SERIES") die "no kernel $2 in $1" ;;
	*) wrong "no kernel $2 in $1" ;;
	esac
	echo "$name"
}

unpack_kernel() {
	local series=$1 tmp=$2 suite image rel headers
	suite=$(kernel_suite "$series")
	image=$(kernel_image_package "$suite" "$series")
	rel=${image#linux-image-}
	headers=$(deb_depends "${suite%-backports}" "linux-headers-$rel" |
		grep -E '^linux-(headers|kbuild)-')
	# shellcheck disable=SC2086
	deb_fetch "${suite%-backports}" "$tmp/debs" \
		"$image" "linux-headers-$rel" $headers
	step "kernel-$series" "unpacking kernel $rel" \
		deb_unpack "$tmp/root" "$tmp"/debs/*.deb
	rm -rf "$tmp/debs"
	echo "$rel" >"$tmp/release"
}

# kernel_tree SERIES - print the directory of an unpacked kernel:
# release, root/boot, root/lib/modules, kdir (for make -C). The series
# "debug" is not unpacked but built.
kernel_tree() {
	local dir=$CACHE/kernel/$1 rel
	if [ "$1" = debug ]; then
		debug_kernel
		return
	fi
	if [ ! -e "$dir/.done" ]; then
		make_dirs "$dir"
		has_room "$dir" 1500
		rm -rf "$dir"
		unpack_kernel "$1" "$dir"
		rel=$(<"$dir/release")
		rewrite_headers "$dir" "$rel"
		touch "$dir/.done"
	fi
	echo "$dir"
}

# rewrite_headers DIR RELEASE - Debian's headers name one another by
# absolute path; make these point into DIR, and offer DIR/kdir.
rewrite_headers() {
	local src=$1/root/usr/src/linux-headers-$2 common
	common=$(sed -n 's#^include /usr/src/\(.*\)/Makefile#\1#p' "$src/Makefile")
	[ -n "$common" ] || die "unexpected layout of linux-headers-$2"
	echo "include $1/root/usr/src/$common/Makefile" >"$src/Makefile"
	ln -sfn "root/usr/src/linux-headers-$2" "$1/kdir"
}

# linux_source SERIES - print the directory of the unpacked source.
linux_source() {
	local dir=$CACHE/linux-source-$1 suite
	suite=$(kernel_suite "$1")
	if [ ! -e "$dir/.done" ]; then
		make_dirs "$dir"
		has_room "$dir" 2500
		rm -rf "$dir"
		deb_fetch "$suite" "$dir/debs" "linux-source-$1"
		deb_unpack "$dir/root" "$dir"/debs/*.deb
		step linux-source "unpacking linux-source-$1" \
			tar -C "$dir" -xf "$dir/root/usr/src/linux-source-$1.tar.xz"
		rm -rf "$dir/debs" "$dir/root"
		touch "$dir/.done"
	fi
	echo "$dir/linux-source-$1"
}
