# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Packages of any Debian suite without root: a private apt state for each
# suite in the cache. The mirror is the one this machine already uses.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

host_suite() { (. /etc/os-release && echo "${VERSION_CODENAME:-unknown}"); }

# mirror_of main|security - the address in the machine's own apt
# configuration, one-line or deb822: apt itself reads both.
mirror_of() {
	local kind=$1
	env -u APT_CONFIG apt-get indextargets \
		--format '$(CREATED_BY) $(REPO_URI) $(RELEASE)' |
		awk -v kind="$kind" -v suite="$(host_suite)" '
			$1 == "Packages" && kind == "main" && $3 == suite ||
			$1 == "Packages" && kind == "security" &&
				$3 ~ /-security$/ { if (!n++) print $2 }'
}

suite_sources() {
	local suite=$1 main security opt="[signed-by=$KEYRING]"
	main=$(mirror_of main)
	security=$(mirror_of security)
	[ -n "$main" ] || die "no Debian mirror in this machine's apt sources"
	: "${security:=${main%debian/}debian-security/}"
	printf 'deb-src %s %s %s main\n' "$opt" "$main" "$suite"
	printf "deb $opt $main %s main\n" "$suite" "$suite-updates" \
		"$suite-backports"
	printf 'deb %s %s %s main\n' "$opt" "$security" "$suite-security"
}

# apt_state SUITE - print the configuration file of the suite's private
# apt, made on first use and refreshed when a day old.
apt_state() {
	local suite=$1 dir=$CACHE/apt/$1 conf=$CACHE/apt/$1/apt.conf
	make_dirs "$dir/lists/partial" "$dir/archives/partial" "$dir/parts"
	(
		flock 9
		[ -z "$(find "$dir/.updated" -mmin -1440 2>/dev/null)" ] || exit 0
		has_room "$dir" 200
		suite_sources "$suite" >"$dir/sources.list"
		cat >"$conf" <<-CONF
			Dir::State "$dir";
			Dir::State::Lists "$dir/lists";
			Dir::Cache "$dir";
			Dir::Cache::archives "$dir/archives";
			Dir::Etc::SourceList "$dir/sources.list";
			Dir::Etc::SourceParts "$dir/parts";
			Dir::Etc::Preferences "/dev/null";
			Dir::Etc::PreferencesParts "$dir/parts";
			APT::Sandbox::User "";
			APT::Get::List-Cleanup "false";
			Acquire::Languages "none";
			Acquire::Retries "3";
		CONF
		step "apt-$suite" "reading the package lists of $suite" \
			env APT_CONFIG="$conf" apt-get update
		touch "$dir/.updated"
	) 9>"$dir/.lock"
	echo "$conf"
}

# deb_fetch SUITE DIR PACKAGE[=VERSION|/SUITE]... - download into DIR.
deb_fetch() {
	local conf dir=$2 suite=$1
	shift 2
	conf=$(apt_state "$suite")
	make_dirs "$dir"
	(cd "$dir" && step "fetch-$suite-${1//[^a-z0-9.-]/_}" "fetching $*" \
		env APT_CONFIG="$conf" apt-get -q download "$@")
}

# deb_unpack DIR DEB... - unpack, never install.
deb_unpack() {
	local dir=$1 deb
	shift
	make_dirs "$dir"
	for deb in "$@"; do
		dpkg-deb -x "$deb" "$dir" || die "cannot unpack $deb"
	done
}

# deb_newest SUITE REGEX - the newest package whose name matches, if any.
deb_newest() {
	local conf
	conf=$(apt_state "$1")
	APT_CONFIG=$conf apt-cache pkgnames | { grep -E "^$2\$" || true; } |
		sort -V | tail -1
}

# deb_depends SUITE PACKAGE - the packages it depends on, one a line.
deb_depends() {
	local conf
	conf=$(apt_state "$1")
	APT_CONFIG=$conf apt-cache depends --no-recommends --no-suggests \
		--no-conflicts --no-breaks --no-replaces --no-enhances "$2" |
		sed -n 's/^ *Depends: *//p'
}

# src_fetch SUITE DIR PACKAGE - the upstream tarball of a source package.
# A mirror may lack the .dsc and hold the tarball, so apt's exit code is
# ignored and the file is judged by its checksum.
src_fetch() {
	local suite=$1 dir=$2 package=$3 conf line file sum
	conf=$(apt_state "$suite")
	line=$(APT_CONFIG=$conf apt-get source --print-uris "$package" \
		2>/dev/null | grep '\.orig\.tar\.[gx]z ' | tail -1) || true
	[ -n "$line" ] || die "no source package $package in $suite"
	file=$(awk '{ print $2 }' <<<"$line")
	sum=$(awk '{ print $4 }' <<<"$line")
	make_dirs "$dir"
	(cd "$dir" && step "fetch-$package" "fetching the source of $package" \
		sh -c "APT_CONFIG='$conf' apt-get -q source --download-only \
			'$package' || true")
	(cd "$dir" && echo "${sum#SHA256:}  $file" | sha256sum -c --quiet) ||
		die "the mirror has no sound $file of $package"
	echo "$dir/$file"
}
