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
export SPANPROF_STRESS_SECONDS=${SPANPROF_STRESS_SECONDS:-5}

# build PRESET [TARGET...]: only what goes wrong is printed.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" -DSPANPROF_WERROR=ON > "build/log/configure-$preset.txt" || {
    cat "build/log/configure-$preset.txt"
    return 1
  }
  if [ $# -gt 0 ]; then
    set -- --target "$@"
  fi
  cmake --build --preset "$preset" "$@" -- --quiet
}

# lane COMMAND...: in the background, two at a time. `wait` waits for all.
lane() {
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
    wait -n || true
  done
  "$@" &
}

# Names of failed checks, from every lane.
failures=$(mktemp)
trap 'rm -f "$failures" "$failures".*' EXIT

# run_check LOG SECONDS COMMAND...: sets status and said. A function runs in a
# shell of its own; behind || its commands could fail unseen.
run_check() {
  local log=$1 seconds=$2
  shift 2
  set +e
  if [ "$(type -t "$1")" = function ]; then
    (set -e; "$@") > "$log" 2>&1 < /dev/null 8>&- 9>&-
  else
    timeout -k 5 "$seconds" "$@" > "$log" 2>&1 < /dev/null 8>&- 9>&-
  fi
  status=$?
  set -e
  said=$(grep -E '^([0-9]+ runs, |Ran [0-9]+ tests? |OK \(skipped|NO TESTS RAN|FAILED \()' "$log" | paste -sd ' ' || true)
  if [[ $said =~ "NO TESTS RAN (skipped=" ]]; then
    status=0 # so CPython 3.12.1 says that all were skipped
  elif [[ $said =~ ^(0 runs|Ran 0 tests) ]]; then
    status=1
  fi
}

# check NAME SECONDS COMMAND...: its CHECK line, with the test runner's own
# count. What fails beside another lane is shown and runs once more, alone: only
# then is the machine known to have had time for it.
check() {
  local name=$1 seconds=$2 log=build/log/$1.txt start=$SECONDS status said
  shift 2
  exec 8> "$failures.turn" 9> "$failures.lanes"
  flock 8
  flock -s 9
  flock -u 8
  run_check "$log" "$seconds" "$@"
  flock -u 9
  if [ $status -ne 0 ]; then
    echo "$(tail -n 80 "$log")"$'\n'"CHECK again $name ($((SECONDS - start)) s, status $status) $said"
    start=$SECONDS
    flock 8
    flock 9
    run_check "$log" "$seconds" "$@"
  fi
  exec 8>&- 9>&-
  if [ $status -eq 0 ]; then
    echo "CHECK passed $name ($((SECONDS - start)) s) $said"
  else
    echo "$name" >> "$failures"
    echo "$(tail -n 80 "$log")"$'\n'"CHECK failed $name ($((SECONDS - start)) s, status $status) $said"
  fi
}

sources() {
  find . \( -path ./build -o -name vendor \) -prune -o \
    \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -print0
}

stage_format() {
  sources | xargs -0 clang-format --dry-run -Werror
  echo "$(sources | tr -cd '\0' | wc -c) files are formatted"
}

# Unit tests; one that finds no time beside the others runs once more.
unit_tests() {
  ctest --preset "$1" --repeat until-pass:2 "${@:2}"
}

stage_dev() {
  build dev
  unit_tests dev
}

stage_clang() {
  build clang
  unit_tests clang -E '^install_'
}

stage_unity() {
  build unity spanprof spanprof_static spanprof_command
  ctest --preset unity -R '^(install_|abi_|unity_)'
}

# Unit tests, then the stress programs that are worth their time here.
sanitized() {
  local status=0

  build "$1"
  unit_tests "$1" || status=$?
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
stage_fuzz() {
  local seconds=${SPANPROF_FUZZ_SECONDS:-5} binary name status=0
  export ASAN_OPTIONS=allocator_may_return_null=1

  build fuzz fuzz_programs
  mkdir -p build/fuzz/crashes
  for binary in build/fuzz/tests/fuzz/fuzz_*; do
    name=$(basename "$binary")
    mkdir -p "build/fuzz/found/$name"
    if "$binary" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
      -print_final_stats=1 -artifact_prefix="build/fuzz/crashes/$name-" \
      "build/fuzz/found/$name" "tests/fuzz/corpus/${name#fuzz_}" > "build/log/$name.txt" 2>&1; then
      echo "$name: $(sed -n 's/.*number_of_executed_units: *//p' "build/log/$name.txt") runs, nothing found"
      echo "CHECK passed $name"
    else
      tail -40 "build/log/$name.txt"
      echo "CHECK failed $name"
      status=1
    fi
  done
  return $status
}

stage_stress() {
  build release stress_programs
  ctest --test-dir build/release -L stress --no-tests=error --output-on-failure
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
    for path in "bindings/$language"/*.c "build/strict/$language/swig.c" core/src/{spanprof,command}_unity.c; do
      "$compiler" -fsyntax-only -fPIC -O1 -std=gnu11 -D_GNU_SOURCE -DSPANPROF_STATIC -Wall -Wextra -Wshadow \
        -Wstrict-prototypes -Wmissing-prototypes -Werror "${includes[@]}" -Icore/include -Icore/src \
        -Iswig -Iswig/lang -I"bindings/$language" -isystem "build/strict/$language" "$path" || status=1
    done
  done
  return $status
}

shopt -s nullglob
source tests/ruby_stage.sh
source tests/python_stage.sh
source tests/suite_stage.sh
"stage_${1:?stage}"
