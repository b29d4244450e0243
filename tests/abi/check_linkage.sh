#!/usr/bin/env bash
# check_linkage.sh LIBRARY SOVERSION: checks that the shared library has the right SONAME, is bound at
# load, is never unmapped, does not load libunwind, and has at most 64 bytes of static TLS, because all
# libraries that are loaded by dlopen() share some 1,600 bytes. Tested with readelf 2.40.
set -euo pipefail
library=$1 soversion=$2
dynamic=$(readelf -dW "$library")
status=0

expect() {
  grep -qE "$2" <<< "$dynamic" || {
    echo "missing: $1" >&2
    status=1
  }
}
expect "SONAME libspanprof.so.$soversion" "SONAME.*\[libspanprof\.so\.${soversion//./\\.}\]"
expect "NOW" "FLAGS_1.*NOW"
expect "NODELETE" "FLAGS_1.*NODELETE"
if grep -q 'NEEDED.*libunwind' <<< "$dynamic" || ldd "$library" | grep libunwind; then
  echo "libunwind is linked: its _Unwind_* would shadow libgcc's" >&2
  status=1
fi
if readelf -lW "$library" | grep 'GNU_STACK.*RWE' > /dev/null; then
  echo "the stack is executable" >&2
  status=1
fi
tls_bytes=$((0$(readelf -lW "$library" | awk '$1 == "TLS" { print " + " $6 }')))
if [ "$tls_bytes" -gt 64 ]; then
  echo "$tls_bytes bytes of static TLS" >&2
  status=1
fi
exit $status
