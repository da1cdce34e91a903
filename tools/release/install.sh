#!/bin/sh
# Installs the hblite command from the files of a release.
#
#   install.sh FROM [DIRECTORY]
#
# FROM is the URL or the directory of the files that tools/release/build made. DIRECTORY is where
# the command goes; the default is ~/.local/bin. The file is compared with SHA256SUMS.
set -eu
fail() {
    echo "install: $1" >&2
    exit 1
}
[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: install.sh FROM [DIRECTORY]"
from=${1%/}
directory=${2:-$HOME/.local/bin}
case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-unknown-linux-musl ;;
Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
Darwin-x86_64) target=x86_64-apple-darwin ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
*) fail "there is no binary for $(uname -s) on $(uname -m); use cargo install hblite-cli" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get() { # NAME
    case $from in
    http://* | https://*) curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" ;;
    *) cp "$from/$1" "$work/$1" ;;
    esac || fail "cannot get $1 from $from"
}
file=hblite-$target
get "$file"
get SHA256SUMS
grep "  $file\$" "$work/SHA256SUMS" >"$work/sum" || fail "SHA256SUMS does not name $file"
if command -v sha256sum >/dev/null 2>&1; then
    (cd "$work" && sha256sum -c sum >/dev/null) || fail "$file differs from its checksum"
else
    (cd "$work" && shasum -a 256 -c sum >/dev/null) || fail "$file differs from its checksum"
fi
mkdir -p "$directory"
# Replaces the file in one step, even if the command is running.
cp "$work/$file" "$directory/.hblite.new"
chmod 755 "$directory/.hblite.new"
"$directory/.hblite.new" --version >/dev/null ||
    fail "$directory/.hblite.new cannot be executed; is $directory mounted with noexec?"
mv "$directory/.hblite.new" "$directory/hblite"
"$directory/hblite" --version
case :$PATH: in
*":$directory:"*) ;;
*) echo "install: add $directory to your PATH" >&2 ;;
esac
