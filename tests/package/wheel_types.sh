#!/usr/bin/env bash
# wheel_types.sh: a program that uses what is public, and the package itself, have
# no error by their type hints; the stub of the compiled part is true of it.
source "$(dirname "$0")/common.sh"
python=$top/build/python-$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')/bin/python
strict=(-m mypy --strict --follow-imports=silent --cache-dir "$work/cache")

cp tests/package/types/consumer.py "$work"
cd "$work" || exit
"$python" "${strict[@]}" consumer.py
# What the hints are for: an option that is misspelled.
echo 'import spanprof; spanprof.start(sample_rate=100)' > misspelled.py
if "$python" "${strict[@]}" misspelled.py > misspelled.txt; then
  fail "a misspelled option has no error"
fi
grep -q 'Unexpected keyword argument "sample_rate" for "start"' misspelled.txt || fail "$(cat misspelled.txt)"
"$python" "${strict[@]}" -p spanprof -p pyroscope
# What has a layout of its own is so marked only since 2025.
printf 'spanprof._native.%s\n' RuntimeContext SpanRules > allowed
"$python" -m mypy.stubtest --allowlist allowed --ignore-unused-allowlist spanprof._native
