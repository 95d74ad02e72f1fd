# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What every script shares: where things live, messages, locks, logged steps.
# Source it; it sets -euo pipefail. That ends what runs in $( ) and ( ) as
# well, unless a || or an if waits for the outcome: do not write them there.

set -euo pipefail
shopt -s inherit_errexit

# A script's first lines say what it does and takes.
case ${1:-} in
-h | --help)
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0"
	exit 0
	;;
esac

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=$(realpath -ms "${CRNIC_CACHE:-${HOME:?}/.cache/crnic}")
BUILD=$TOP/build
LOGS=$BUILD/logs
PROG=scripts/$(basename "$0")
JOBS=${JOBS:-$(nproc)}
STEP_PID=
export KERNEL_SERIES=6.12 QEMU_SERIES=10.0 CRNIC_CACHE=$CACHE

say() { printf '%s: %s\n' "${PROG##*/}" "$*" >&2; }

# A check that cannot go on is a failed check, and says so in its counts.
die() {
	say "error: $*"
	case $PROG in scripts/check-*) echo "0 passed, 1 failed, 0 skipped" ;; esac
	exit 1
}

# need TOOL... - stop with one line that names every missing tool.
need() {
	local tool missing=()
	for tool in "$@"; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	[ ${#missing[@]} -eq 0 ] || die "missing ${missing[*]}: run scripts/deps"
}

# wrong TEXT - what cannot be right in the arguments or the environment.
wrong() {
	say "error: $*"
	exit 2
}

# no_more ARGUMENT... - there must be none.
no_more() { [ $# -eq 0 ] || wrong "unknown argument $1"; }

# one_of NAME VALUE CHOICE... - the value must be one of the choices.
one_of() {
	local name=$1 value=$2 IFS='|'
	shift 2
	case "|$*|" in *"|$value|"*) return ;; esac
	wrong "$name takes $*, not ${value:-nothing}"
}

# number NAME VALUE - the value must be a number from 1 on.
number() {
	[[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || wrong "$1 takes a number, not $2"
}

# series_of VALUE - the value must look like a kernel's series.
series_of() {
	[[ ${1:-} =~ ^([0-9]+\.[0-9]+|debug)$ ]] ||
		wrong "--kernel takes a series like 6.12, not ${1:-nothing}"
}

make_dirs() {
	mkdir -p "$@" 2>/dev/null ||
		die "cannot create $*: $(mkdir -p "$@" 2>&1 | head -1)"
}

# has_room DIR MIB - the disk-full case, told before an hour of work is lost.
has_room() {
	local free
	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] ||
		die "disk full: $1 has $free MiB free, this step needs $2 MiB"
}

# hash_of FILE_OR_DIR... - one key for names and contents, relative to TOP.
hash_of() {
	(cd "$TOP" && find "$@" -type f ! -name '*.o' ! -name '*~' -print0 |
		LC_ALL=C sort -z | xargs -0r sha256sum) |
		sha256sum | cut -c1-16
}

# lock NAME - hold a lock in the cache until the script ends.
lock() {
	local fd
	make_dirs "$CACHE/locks"
	exec {fd}>"$CACHE/locks/$1"
	if ! flock -n "$fd"; then
		say "waiting for another run that holds the lock '$1'"
		flock "$fd"
	fi
}

# forget DAYS PATH... - remove cached things that nobody used for so long.
forget() {
	local days=$1
	shift
	find "$@" -maxdepth 0 -mtime "+$days" -exec rm -rf {} + 2>/dev/null || true
}

# The lines of a log that say what went wrong.
lines_that_matter() {
	grep -aiE 'error|fatal|no space|cannot|failed|not found|undefined|E:' "$1" |
		grep -avE 'Werror|error_report|-error\.' | tail -n 8 || true
	printf -- '--- end of the log:\n'
	tail -n 5 "$1"
}

# show_progress PID LOG WHAT - a line now and then while PID lives.
show_progress() {
	local start=$SECONDS pause=1 last
	while kill -0 "$1" 2>/dev/null; do
		sleep 1
		[ $((++pause % 15)) -eq 0 ] || continue
		last=$(tail -n 1 "$2" 2>/dev/null | tr -d '\r' | cut -c1-70)
		say "$3: $((SECONDS - start)) s  ${last}"
	done
}

# step LOGNAME WHAT COMMAND... - run with output in a log; fail loudly.
step() {
	local log=$LOGS/$1.log what=$2 rc=0 start=$SECONDS
	shift 2
	make_dirs "$LOGS"
	say "$what"
	# In a process group of its own: mmdebstrap, when it fails, sends its
	# whole group a signal. Nor may it outlive this script.
	set -m
	"$@" >"$log" 2>&1 </dev/null &
	STEP_PID=$!
	set +m
	trap 'kill -- "-$STEP_PID" 2>/dev/null' EXIT
	show_progress "$STEP_PID" "$log" "$what"
	wait "$STEP_PID" 2>/dev/null || rc=$?
	trap - EXIT
	if [ "$rc" -ne 0 ]; then
		lines_that_matter "$log" >&2
		if grep -q 'No space left on device' "$log"; then
			die "disk full while $what; full log: $log"
		fi
		die "$what failed; full log: $log"
	fi
	[ $((SECONDS - start)) -lt 5 ] ||
		say "$what: done in $((SECONDS - start)) s"
}

number JOBS "$JOBS"
one_of DEPTH "${DEPTH:-quick}" quick full
