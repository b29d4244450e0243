#!/usr/bin/env bash
# check_unity.sh UNITY_FILE BASE SOURCES: checks that UNITY_FILE includes exactly the source files
# that the file SOURCES lists, each by its path below BASE, and that no two files below BASE have
# the same name. (mkmf puts all object files into one folder.)
set -euo pipefail
unity=$1 base=$2 sources=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
status=0

# Generated sources are in the build directory; the unity file includes them by their names alone.
sed "s|^$base/||; t; s|.*/||" "$sources" | sort > "$work/built"
sed -nE 's|^#include "(.*\.c)".*|\1|p' "$unity" | sort > "$work/included"
diff -u "$work/built" "$work/included" || {
  echo "$unity (+) differs from the list of sources that CMake compiles (-)." >&2
  status=1
}
twice=$(find "$base" \( -name node_modules -o -name include \) -prune -o -name '*.[ch]' -printf '%f\n' | sort | uniq -d)
if [ -n "$twice" ]; then
  echo "file names that occur twice: $twice" >&2
  status=1
fi
exit $status
