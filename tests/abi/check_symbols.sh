#!/usr/bin/env bash
# check_symbols.sh COMPILER INCLUDE_DIR LIBRARY ARCHIVE LIST: the names exported by the shared and
# by the static library, those declared in the headers (runtime.h includes spanprof.h) and those of
# the list are the same. Tested with nm 2.40.
set -euo pipefail
compiler=$1 include_dir=$2 library=$3 archive=$4 list=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# Names of the version nodes are absolute symbols (A).
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
