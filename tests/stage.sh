#!/usr/bin/env bash
# stage.sh STAGE: one stage of tests/run, which installs what it needs first.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

# A session must be configured by its test alone.
for name in $(compgen -e | grep -E '^(PYROSCOPE|OTEL)_' || true); do
  unset "$name"
done
unset http_proxy https_proxy all_proxy no_proxy
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE
export HOME=${HOME:-/tmp}
export SPANPROF_STRESS_SECONDS=${SPANPROF_STRESS_SECONDS:-3}

# build PRESET [TARGET...]: only what goes wrong is printed. A stage that shares
# the preset waits.
build() {
  local lock status=0

  [ "$1" = dev ] || page_once
  exec {lock}> "build/log/$1.lock"
  flock "$lock"
  build_locked "$@" || status=$?
  exec {lock}>&-
  return $status
}

build_locked() {
  local preset=$1
  shift
  cmake --preset "$preset" -DSPANPROF_WERROR=ON "-DSPANPROF_PAGE_FILE=$([ "$preset" = dev ] || echo "$PWD/build/page/page.html")" > "build/log/configure-$preset.txt" || {
    cat "build/log/configure-$preset.txt"
    return 1
  }
  if [ $# -gt 0 ]; then
    set -- --target "$@"
  fi
  cmake --build --preset "$preset" "$@" -- --quiet
}

# Names of what failed, from every lane.
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

# lane COMMAND...: in the background, two at a time, until lanes_end. One that
# dies has failed.
lanes=()
lane() {
  while [ "$(jobs -rp | grep -cFx "$(printf '%s\n' "${lanes[@]:-none}")")" -ge 2 ]; do
    wait -n || true
  done
  (
    trap - EXIT
    "$@"
  ) &
  lanes+=($!)
}

lanes_end() {
  local pid

  for pid in "${lanes[@]}"; do
    wait "$pid" || {
      echo "CHECK failed lane $pid: it died (status $?)"
      echo "lane $pid" >> "$failures"
    }
  done
  lanes=()
}

# run_check LOG SECONDS COMMAND...: sets status and said. A function runs in a
# shell of its own; behind || its commands could fail unseen.
run_check() {
  local log=$1 seconds=$2
  shift 2
  set +e
  if [ "$(type -t "$1")" = function ]; then
    (set -e; "$@") > "$log" 2>&1 < /dev/null
  else
    timeout -k 5 "$seconds" "$@" > "$log" 2>&1 < /dev/null
  fi
  status=$?
  set -e
}

# skips LOG: the reason of each test of it that was skipped, as unittest and
# minitest tell it when they are verbose.
skips() {
  sed -nE 's/^ok .*# SKIP (.*)$/\1/p' "$1"
  sed -nE "s/.* \.\.\. skipped ['\"](.*)['\"]\$/\1/p" "$1"
  awk '/^ +[0-9]+\) Skipped:$/ { getline; getline; print }' "$1"
}

# check NAME SECONDS COMMAND...: its CHECK line, with the test runner's own
# count. Each skipped test has a line of its own, SKIP; a check that ran nothing
# (or ended with 77) has no other. One that has no test at all has failed, and so
# has one that misses what the set-up brings, where needs_all is set.
check() {
  local name=$1 seconds=$2 log=build/log/$1.txt start=$SECONDS status said skipped ran
  shift 2
  [[ $name =~ ${SPANPROF_CHECKS:-} ]] || return 0
  run_check "$log" "$seconds" "$@"
  said=$(grep -E '^([0-9]+ runs, |Ran [0-9]+ tests? |OK \(skipped|NO TESTS RAN|FAILED \(|# (tests|fail) [0-9])' "$log" | paste -sd ' ' || true)
  skipped=$(skips "$log")
  ran=1
  if [ "$status" -eq 77 ]; then
    skipped=$(tail -n 1 "$log") ran=0 status=0
  elif [ -n "$said" ]; then
    ran=$(grep -cE '(^|\.\.\. )ok$| s = \.$|^ok [0-9]' "$log" || true)
  fi
  if [[ $status -eq 5 && $said == *"NO TESTS RAN (skipped="* ]]; then
    status=0 # from CPython 3.12 on unittest says so where all were skipped
  fi
  if [ $status -eq 0 ] && [ "$ran" -eq 0 ] && [ -z "$skipped" ]; then
    status="no test"
  elif [ $status -eq 0 ] && [ -n "${needs_all:-}" ] && grep -q 'not installed' <<< "$skipped"; then
    status="skips what was to be installed"
  fi
  if [ "$status" = 0 ]; then
    [ "$ran" -eq 0 ] || echo "CHECK passed $name ($((SECONDS - start)) s) $said"
    [ -z "$skipped" ] || echo "SKIP $name: ${skipped//$'\n'/$'\n'SKIP $name: }"
  else
    echo "$name" >> "$failures"
    echo "$(tail -n 80 "$log")"$'\n'"CHECK failed $name ($((SECONDS - start)) s, status $status) $said"
  fi
}

# units PRESET [OPTION...]: its tests, and what single ones of them skipped, which
# ctest keeps to itself.
units() {
  local status=0

  ctest --preset "$@" || status=$?
  sed -n "s|^SKIP $PWD/|SKIP |p" "build/$1/Testing/Temporary/LastTest.log"
  return $status
}

stage_dev() {
  build dev
  units dev
}

stage_clang() {
  build clang
  units clang
}

stage_unity() {
  build unity spanprof spanprof_static spanprof_command test_struct_sizes
  units unity -R '^(install_|abi_|unity_)'
}

# Unit tests, then the stress programs that are worth their time here.
sanitized() {
  local status=0

  build "$1"
  units "$1" || status=$?
  ctest --test-dir "build/$1" -L quick --no-tests=error --output-on-failure || status=$?
  return $status
}

stage_asan() {
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
  export UBSAN_OPTIONS=print_stacktrace=1
  sanitized asan
}

stage_tsan() {
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  sanitized tsan
}

# The corpus stays as it is; what the fuzzer finds on the way is kept in the
# build directory, a crash in build/fuzz/crashes.
fuzz_target() {
  local name

  name=$(basename "$1")
  mkdir -p "build/fuzz/found/$name"
  if "$1" -max_total_time="${SPANPROF_FUZZ_SECONDS:-3}" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/crashes/$name-" \
    "build/fuzz/found/$name" "tests/fuzz/corpus/${name#fuzz_}" > "build/log/$name.txt" 2>&1; then
    echo "$name: $(sed -n 's/.*number_of_executed_units: *//p' "build/log/$name.txt") runs, nothing found"
    echo "CHECK passed $name"
  else
    echo "$name" >> "$failures"
    echo "$(tail -40 "build/log/$name.txt")"$'\n'"CHECK failed $name"
  fi
}

stage_fuzz() {
  local binary
  export ASAN_OPTIONS=allocator_may_return_null=1

  build fuzz fuzz_programs
  mkdir -p build/fuzz/crashes
  for binary in build/fuzz/tests/fuzz/fuzz_*; do
    lane fuzz_target "$binary"
  done
  lanes_end
}

stage_stress() {
  build release stress_programs
  ctest --test-dir build/release -L stress -j 2 --no-tests=error --output-on-failure
}

stage_bench() {
  export SPANPROF_BENCH_QUICK=${SPANPROF_BENCH_QUICK:-1}

  build release bench_programs
  ctest --test-dir build/release -L bench --no-tests=error --verbose
}

# strict_binding LANGUAGE "INCLUDE...": no compiler has anything to say.
strict_binding() {
  local language=$1 compiler path includes=() status=0

  for path in $2; do
    includes+=(-isystem "$path")
  done
  mkdir -p "build/strict/$language"
  protoc-c --proto_path=core/proto --c_out="build/strict/$language" profile.proto push.proto
  if [ "$language" = ruby ]; then
    swig -ruby -Wall -Werror -initname spanprof_swig -o build/strict/ruby/swig.c swig/spanprof.i
  else
    swig -python -Wall -Werror -interface _swig -outdir build/strict/python -o build/strict/python/swig.c swig/spanprof.i
  fi
  for compiler in gcc clang; do
    for path in bindings/common/*.c $(find "bindings/$language" -name '*.c') "build/strict/$language/swig.c" core/src/spanprof_unity.c core/command/command_unity.c; do
      "$compiler" -fsyntax-only -fPIC -O1 -std=gnu11 -D_GNU_SOURCE -DSPANPROF_STATIC -Wall -Wextra -Wshadow \
        -Wstrict-prototypes -Wmissing-prototypes -Werror "${includes[@]}" -Icore/include -Icore/src -Icore \
        -Iswig -Iswig/lang -Ibindings/common -I"bindings/$language" -isystem "build/strict/$language" "$path" || status=1
    done
  done
  return $status
}

# binding_cost LANGUAGE VERSION PROGRAM...: counts do not depend on the load.
binding_cost() {
  local language=$1 version=$2 marks=$PWD/build/cost-$1-$2.so
  shift 2
  gcc -shared -fPIC -O2 -Wall -Wextra -Werror -o "$marks" tests/cost/binding/marks.c
  tests/cost/binding/check_binding_cost.py "$language" "$version" "$marks" "$@"
}

# rules_binding LANGUAGE "INCLUDE..." ROOT...: what runs in the handler keeps its
# rules in a binding, too; ROOTs are what the core calls there.
rules_binding() {
  local language=$1 path includes=()

  for path in $2; do
    includes+=(-isystem "$path")
  done
  shift 2
  # What they call of the core stands in clock.c.
  grep -rlE --include='*.c' 'SP_(HANDLER_(CODE|RARE)|SIGNAL_SAFE)' "bindings/$language" core/src/util/system/clock.c |
    xargs tests/rules/signal_safety.py "$@" -- gcc -std=gnu11 -D_GNU_SOURCE -DSPANPROF_STATIC -fPIC \
      "${includes[@]}" -Icore/include -Icore/src -Ibindings/common -I"bindings/$language"
}

shopt -s nullglob
source tests/format_stage.sh
source tests/page_stage.sh
source tests/ruby_stage.sh
source tests/python_stage.sh
source tests/suite_stage.sh
source tests/bare_stage.sh
"stage_${1:?stage}"
[ ! -s "$failures" ]
