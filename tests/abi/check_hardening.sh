#!/usr/bin/env bash
# check_hardening.sh LIBRARY [fortified]: checks that the library is hardened against stray writes. It
# must have read-only relocations, binding at load, a stack that is not executable, and the stack
# protector. With "fortified", which needs optimisation and glibc, it must also call the checked string
# functions. Tested with readelf 2.40.
set -euo pipefail
library=$1
status=0

# expect WHAT PATTERN TEXT: TEXT must match PATTERN; otherwise WHAT is reported as missing.
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
