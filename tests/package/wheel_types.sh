#!/usr/bin/env bash
# wheel_types.sh: checks with mypy that the package, and a program that uses its
# whole public interface, have no type errors, and that the stub file of the
# extension module agrees with the module.
source "$(dirname "$0")/common.sh"
python=$top/build/python-$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')/bin/python
strict=(-m mypy --strict --follow-imports=silent --cache-dir "$work/cache")

cp tests/package/types/consumer.py "$work"
cd "$work" || exit
"$python" "${strict[@]}" consumer.py
# A misspelled option must be an error.
echo 'import spanprof; spanprof.start(sample_rate=100)' > misspelled.py
if "$python" "${strict[@]}" misspelled.py > misspelled.txt; then
  fail "a misspelled option has no error"
fi
grep -q 'Unexpected keyword argument "sample_rate" for "start"' misspelled.txt || fail "$(cat misspelled.txt)"
"$python" "${strict[@]}" -p spanprof -p pyroscope
# mypy's stubtest expects the decorator @disjoint_base (PEP 800) for these
# classes since 2025; older versions of mypy do not know it.
printf 'spanprof._native.%s\n' RuntimeContext SpanRules > allowed
"$python" -m mypy.stubtest --allowlist allowed --ignore-unused-allowlist spanprof._native
