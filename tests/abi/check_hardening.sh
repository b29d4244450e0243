#!/usr/bin/env bash
# check_hardening.sh LIBRARY [fortified]: the library is hardened against stray writes: read-only
# relocations, binding at load, no executable stack, stack protector; with "fortified", which needs
# optimisation and glibc, checked string functions. Tested with readelf 2.40.
set -euo pipefail
library=$1
status=0

# expect WHAT PATTERN TEXT
expect() {
  grep -qE "$2" <<< "$3" || {
    echo "$library: missing: $1" >&2
    status=1
  }
}
segments=$(readelf -lW "$library")
symbols=$(readelf --dyn-syms -W "$library")
expect "bound at load" 'FLAGS_1.*NOW' "$(readelf -dW "$library")"
expect "read-only relocations" 'GNU_RELRO' "$segments"
expect "a stack that is not executable" 'GNU_STACK.* RW ' "$segments"
expect "stack protector" 'UND __stack_chk_fail' "$symbols"
if [ "${2:-}" = fortified ]; then
  expect "fortified functions" 'UND __(v?snprintf|memcpy|memmove|strcpy)_chk' "$symbols"
fi
exit $status
