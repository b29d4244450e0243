#!/usr/bin/env bash
# check_unity.sh UNITY_FILE BASE SOURCES: the file includes each of the SOURCES by
# its path below BASE, and no others. No two sources share a file name, because
# mkmf makes one object of each name.
set -euo pipefail
unity=$1 base=$2 sources=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
status=0

# Generated sources are in the build directory and are included by name.
sed "s|^$base/||; t; s|.*/||" "$sources" | sort > "$work/built"
sed -nE 's|^#include "(.*\.c)".*|\1|p' "$unity" | sort > "$work/included"
diff -u "$work/built" "$work/included" || {
  echo "$unity (+) differs from the sources CMake builds (-)." >&2
  status=1
}
twice=$(find "$base" \( -name node_modules -o -name include \) -prune -o -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
if [ -n "$twice" ]; then
  echo "file names that occur twice: $twice" >&2
  status=1
fi
exit $status
