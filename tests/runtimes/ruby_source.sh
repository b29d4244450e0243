#!/usr/bin/env bash
# ruby_source.sh VERSION: downloads the source of Debian's Ruby VERSION, which includes
# Ruby's tests, to build/ruby-source/ruby-VERSION. Exits with 77 if the list below has
# no checksum for VERSION.
set -euo pipefail
cd "$(dirname "$0")/../.."

# SHA-256 of ruby3.x_VERSION.orig.tar.xz in Debian's pool.
declare -A sums=(
  [3.1.2]=350013ef6640f15c42eae48d25c035999dcbb32e4be038d27ad891cb48d685a5
  [3.3.8]=e2e1233ad275b7623a05edf23a01192626d1da454bdfe353a28a87acd8ef015c
)
version=$1 minor=${1%.*} folder=build/ruby-source
archive=$folder/ruby-$version.tar.xz

if [ -z "${sums[$version]:-}" ]; then
  echo "$0 has no checksum for the source of Ruby $version"
  exit 77
fi
[ ! -d "$folder/ruby-$version/test" ] || exit 0
mkdir -p "$folder"
# shellcheck disable=SC2016 # apt fills it in
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
  sed -nE 's|^(.*/debian)/$|\1|p' | head -n 1)
/usr/lib/apt/apt-helper download-file \
  "${mirror:-http://deb.debian.org/debian}/pool/main/r/ruby$minor/ruby${minor}_$version.orig.tar.xz" \
  "$archive" "SHA256:${sums[$version]}"
tar -xJf "$archive" -C "$folder"
rm "$archive"
