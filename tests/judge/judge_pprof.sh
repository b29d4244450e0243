#!/usr/bin/env bash
# judge_pprof.sh MAKE_PROFILES: checks that go tool pprof decodes the profiles
# that the program MAKE_PROFILES encodes, and finds their samples, names and
# labels. Tested with the pprof of Go 1.19.8, 1.24.4, 1.26.10 and 1.27.3.
set -euo pipefail
make_profiles=$1
if ! command -v go > /dev/null; then
  if [ "${CI:-}" = true ]; then
    echo "Go is missing, so no other implementation of pprof can check the profiles." >&2
    exit 1
  fi
  echo "Skipped: go is not installed, so there is no go tool pprof."
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PPROF_TMPDIR="$work" PPROF_BINARY_PATH="$work" GOTOOLCHAIN=local
"$make_profiles" "$work"
source "$work/expected"

judge() {
  go tool pprof "$@" 2> "$work/errors" || {
    cat "$work/errors" >&2
    return 1
  }
}

# sums: reads the output of pprof -raw, and prints the number of samples and the
# sum of their values.
sums() {
  awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
    on && $1 ~ /^[0-9]+:$/ { n++; sub(":", "", $1); ns += $1 }
    END { printf "%d %d\n", n, ns }'
}

status=0
# same WHAT IS EXPECTED: checks that two texts are equal.
same() {
  if [ "$2" != "$3" ]; then
    printf '%s: is %s, expected %s\n' "$1" "$2" "$3" >&2
    status=1
  fi
}

# has WHAT FILE REGEX...: checks that each expression matches a line of the
# file.
has() {
  local what=$1 file=$2 regex

  shift 2
  for regex in "$@"; do
    grep -Eq -- "$regex" "$file" || {
      printf '%s has no line like %s:\n' "$what" "$regex" >&2
      cat "$file" >&2
      status=1
    }
  done
}

# Matches a frame with line number 0, followed by the start line of its function, also 0. Go 1.24
# and later print the column between them.
no_line=' :0(:0)? s=0\(\) *$'
few=$work/0.pb.gz
judge -raw "$few" > "$work/raw"
same "samples and time" "$(sums < "$work/raw")" "5 $few_ns"
has "-raw" "$work/raw" '^PeriodType: cpu nanoseconds$' '^Period: 10000000$' \
  '^cpu/nanoseconds' '^Comment: spanprof judged$' '^Duration: 10' \
  "0xa0 M=1 shop_a0$no_line" "0xbad M=1 libshop.so.1\+0xbad$no_line" \
  ' Shop#method_7 /srv/shop/app.rb:12(:0)? s=0\(\) *$' " \[truncated\]$no_line" \
  '^1: 0x1000/0x100000/0x0 /usr/lib/libshop.so.1 0123456789abcdef \[FN\]'

# Some versions of pprof write 5.0ns instead of 5ns.
judge -top -unit=ns "$few" | sed 's/\.0\+ns/ns/g' > "$work/top"
has "-top" "$work/top" '^Type: cpu$' "Total samples = ${few_ns}ns" \
  '^ *123000000ns .* shop_a0$' '^ *450000ns .* 123450000ns .* Shop#method_7$'

judge -tags -unit=ns "$few" | sed 's/\.0\+ns/ns/g' > "$work/tags"
has "-tags" "$work/tags" 'phase: Total 103050000ns' ' 103050000ns .*: read$' \
  'profile_id: Total 123000000ns' ' 120000000ns .*: deadbeef00010203$' \
  ' 3000000ns .*: deadbeef00010204$' ' 120000000ns .*: GET /books$' \
  ' 3000000ns .*: render$' 'ancestor:GET /books: Total 3000000ns'

focused=$(judge -raw -tagfocus=profile_id=deadbeef00010203 "$few" | sums)
same "-tagfocus=profile_id" "$focused" "2 120000000"
focused=$(judge -raw -tagfocus=span_name=render "$few" | sums)
same "-tagfocus=span_name" "$focused" "1 3000000"

# Each part of the large window is a complete profile, and together they have
# all of its samples.
many=()
for ((i = 1; i < parts; i++)); do
  judge -raw "$work/$i.pb.gz" > "$work/raw"
  many+=("$work/$i.pb.gz")
done
same "parts of the large window" $((parts - 1)) 3
same "the parts together" "$(judge -raw "${many[@]}" | sums)" "$many_samples $many_ns"
exit $status
