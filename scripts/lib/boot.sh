# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What a guest's kernel boots from: vmlinuz, initramfs and a disk with its
# modules. Needs common.sh, apt.sh, kernel.sh and rootfs.sh.

# wanted_modules TREE - files of the parts named in lab/guest/modules and
# of all that these depend on, relative to TREE.
wanted_modules() {
	local part
	cd "$1" || return
	grep -v '^#' "$TOP/lab/guest/modules" | while read -r part; do
		[ ! -e "kernel/$part" ] || find "kernel/$part" -name '*.ko*'
		find "kernel/${part%/*}" -maxdepth 1 -path "kernel/$part.?z*"
	done | awk 'NR == FNR { sub(":", "", $1); deps[$1] = $0; next }
		{ n = split(deps[$1], all); for (i = 1; i <= n; i++) print all[i] }' \
		modules.dep - | sort -u
}

# copy_modules FROM TO - and unpack them: a guest under TCG has better
# things to do than to run xz.
copy_modules() {
	make_dirs "$2"
	cp "$1"/modules.{builtin,builtin.modinfo,order} "$2/"
	(wanted_modules "$1" | cpio -D "$1" -pdm --quiet "$2")
	find "$2" -name '*.ko.xz' -print0 | xargs -0r -P "$JOBS" -n 64 xz -d
}

# make_initramfs TREE RELEASE OUT - busybox, init and what mounts the root.
make_initramfs() {
	local tree=$1 rel=$2 tmp=$1/initramfs module
	rm -rf "$tmp"
	make_dirs "$tmp"/{bin,dev,lab,proc,lower,upper,root,modules}
	deb_fetch "$(host_suite)" "$tree/debs" busybox-static
	deb_unpack "$tree/busybox" "$tree"/debs/busybox-static*.deb
	find "$tree/busybox" -name busybox -perm /111 -type f -exec cp {} "$tmp/bin/" \;
	cp "$TOP/lab/guest/initramfs-init" "$tmp/init"
	cp "$TOP"/lab/guest/lab-* "$tmp/lab/"
	for module in virtio_pci virtio_blk ext4 overlay; do
		modprobe -d "$tree/stage" -S "$rel" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$tree/order"
	while read -r module; do
		cp "$module" "$tmp/modules/"
		echo "${module##*/}"
	done <"$tree/order" >"$tmp/modules/load.order"
	(cd "$tmp" && find . | cpio -o -H newc -R 0:0 --quiet) >"$3"
}

# make_modules_image DIR OUT
make_modules_image() {
	local kib
	kib=$(du -sk --apparent-size "$1" | cut -f1)
	truncate -s "$((kib * 5 / 4 + 16384))K" "$2"
	/sbin/mke2fs -q -t ext4 -O ^has_journal -b 4096 -m 0 -d "$1" "$2"
}

# make_boot TREE RELEASE OUT
make_boot() {
	local tree=$1 rel=$2 out=$3 stage=$1/stage/lib/modules/$2
	rm -rf "$tree/stage"
	/sbin/depmod -b "$tree/root" "$rel"
	copy_modules "$tree/root/lib/modules/$rel" "$stage"
	/sbin/depmod -b "$tree/stage" "$rel"
	make_initramfs "$tree" "$rel" "$out/initramfs"
	make_modules_image "$stage" "$out/modules.ext4"
	cp "$tree/root/boot/vmlinuz-$rel" "$out/vmlinuz"
	echo "$rel" >"$out/release"
	rm -rf "$tree/stage" "$tree/initramfs" "$tree/busybox" "$tree/order" \
		"$tree/debs"
}

# guest_boot SERIES - print the directory of vmlinuz, initramfs, modules.
guest_boot() {
	local tree rel out
	tree=$(kernel_tree "$1")
	rel=$(<"$tree/release")
	out=$GUEST_HOME/boot-$rel-$(hash_of lab/guest/modules \
		lab/guest/initramfs-init lab/guest/lab-init lab/guest/lab-net \
		scripts/lib/boot.sh)
	if [ ! -e "$out/.done" ]; then
		rm -rf "$out"
		make_dirs "$out"
		has_room "$out" 700
		step "boot-$1" "building the boot files of $rel" \
			make_boot "$tree" "$rel" "$out"
		touch "$out/.done"
	fi
	echo "$out"
}
