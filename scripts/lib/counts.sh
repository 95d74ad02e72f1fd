# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The line that every check ends in.

# counts_of FILE - its last such line, or what it is worth to have none.
counts_of() {
	grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$1" |
		tail -n 1 | grep . || echo "0 passed, 1 failed, 0 skipped"
}

# sum_counts LINE... - their sum; fails when anything failed. A line that is
# no such line counts as a failure.
sum_counts() {
	printf '%s\n' "$@" | awk '
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
			passed += $1; failed += $3; skipped += $5; next }
		{ failed++ }
		END {
			printf "%d passed, %d failed, %d skipped\n", passed,
				failed, skipped
			exit failed > 0
		}'
}
