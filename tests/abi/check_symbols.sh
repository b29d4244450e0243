#!/usr/bin/env bash
# check_symbols.sh COMPILER INCLUDE_DIR LIBRARY ARCHIVE LIST: checks that the same names are in the
# list, exported by the shared library, exported by the static library, and declared in the headers
# (runtime.h includes spanprof.h). Tested with nm 2.40.
set -euo pipefail
compiler=$1 include_dir=$2 library=$3 archive=$4 list=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# Absolute symbols (A) are left out, because they are the names of version nodes.
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
  sort > "$work/exported"
nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort > "$work/archived"
"$compiler" -E -P "$include_dir/spanprof/runtime.h" | tr '\n' ' ' | tr ';' '\n' |
  grep 'visibility("default")' | sed 's/.*visibility("default")//' |
  grep -oE 'spanprof_[a-z0-9_]+ ?\(' | tr -d ' (' | sort > "$work/declared"
sort "$list" > "$work/listed"

status=0
diff -u "$work/listed" "$work/declared" || {
  echo "The header's functions differ from $list." >&2
  status=1
}
diff -u "$work/listed" "$work/exported" || {
  echo "The exported symbols differ from $list." >&2
  status=1
}
diff -u "$work/listed" "$work/archived" || {
  echo "The static library's global symbols differ from $list." >&2
  status=1
}
echo "$(wc -l < "$work/exported") symbols exported"
exit $status
