#!/usr/bin/env bash
# wheel_types.sh: a program that uses what is public, and the package itself, have
# no error by their type hints; the stub of the compiled part is true of it.
source "$(dirname "$0")/common.sh"
python=$top/build/python-$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')/bin/python
# The feature is one of releases before 1.7 only.
strict=(-m mypy --strict --enable-incomplete-feature=Unpack --follow-imports=silent --cache-dir "$work/cache")

cp tests/package/types/consumer.py "$work"
cd "$work" || exit
"$python" "${strict[@]}" consumer.py
"$python" "${strict[@]}" -p spanprof -p pyroscope
# What has a layout of its own is so marked only since 2025.
printf 'spanprof._native.%s\n' RuntimeContext SpanRules > allowed
"$python" -m mypy.stubtest --allowlist allowed --ignore-unused-allowlist spanprof._native
