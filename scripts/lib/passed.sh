# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A tool that said nothing about a file says nothing about it again, as long
# as tool, options and file stay as they are. The cache remembers which
# files passed; what failed is never remembered. Needs common.sh.

PASSED=$CACHE/static/passed

# batch CHECK DIR LINE... - run CHECK on the files of some of sha256sum's
# lines. Sums are taken before the check and hold after it, or the file is
# not the one that passed.
batch() {
	local check=$1 dir=$2 files out line
	shift 2
	files=("${@#*  }")
	if out=$("$check" "${files[@]}" 2>&1) && [ -z "$out" ]; then
		printf '%s\n' "$@" | sha256sum -c --quiet || return
		for line in "${@//\//,}"; do
			: >"$dir/${line/  /-}"
		done
	else
		printf '%s\n' "${out:-$check failed on ${files[*]}}"
	fi
}

# each_file CHECK TOOL - run the function CHECK on the files named on stdin,
# a few at a time on every core, less those that passed before. The function
# holds the options; TOOL says which version of what it runs.
each_file() {
	local check=$1 key dir
	key=$({ declare -f "$check" && echo "$2"; } | sha256sum | cut -c1-16)
	dir=$PASSED/$check-$key
	make_dirs "$dir"
	touch "$dir"
	export -f batch "${check?}"
	xargs -rd '\n' sha256sum | while read -r line; do
		name=${line//\//,}
		[ -e "$dir/${name/  /-}" ] || echo "$line"
	done | xargs -rd '\n' -P "$JOBS" -n 8 bash -c 'batch "$@"' batch \
		"$check" "$dir"
}

# sum_of FILE... - a TOOL for each_file; files that are not there count too.
sum_of() { cat "$@" 2>/dev/null | sha256sum | cut -c1-16; }

# What passed and was not asked about for two weeks is asked about anew.
forget_passed() {
	forget 14 "$PASSED"/*
	find "$PASSED" -type f -mtime +14 -delete 2>/dev/null || true
}
