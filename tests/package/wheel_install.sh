#!/usr/bin/env bash
# wheel_install.sh: an installation from the sdist takes a C compiler and headers
# alone, in isolation and without, with Debian's own setuptools too; one without
# them does no harm, and SPANPROF_REQUIRED=1 refuses it.
source "$(dirname "$0")/common.sh"
python=/usr/bin/python3
sdist=$(echo "$top"/build/sdist/*.tar.gz)
export PIP_NO_CACHE_DIR=1 PIP_NO_INDEX=1 PIP_FIND_LINKS=$top/build/python-wheels PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_ROOT_USER_ACTION=ignore
isolated=(--no-deps)
plain=(--no-deps --no-build-isolation)

# install NAME WHAT ARGUMENT...: into a folder of its own.
install() {
  local name=$1 what=$2
  shift 2
  "$python" -m pip install -q --target "$work/$name" "$@" "$what" > "$work/$name.txt" 2>&1
}

loads() {
  PYTHONPATH=$work/$1 "$python" -c 'import spanprof; assert spanprof.available(), spanprof.unavailable_reason()'
  echo "$1: installed, available"
}

# inert NAME REASON: it is installed, loads, says REASON, and leaves programs
# alone.
inert() {
  install "$1" "$sdist" "${plain[@]}" || fail "$1: the installation failed: $(tail -n 5 "$work/$1.txt")"
  PYTHONPATH=$work/$1 "$python" - "$2" << 'EOF' || fail "$1"
import sys
import spanprof
assert not spanprof.available()
reason = spanprof.unavailable_reason()
assert sys.argv[1] in reason, reason
assert not spanprof.start(application_name="inert")
with spanprof.label(a="b"):
    pass
spanprof.stop()
EOF
  echo "$1: $2"
  if (export SPANPROF_REQUIRED=1 && install "required_$1" "$sdist" "${plain[@]}"); then
    fail "$1: installed although SPANPROF_REQUIRED=1"
  fi
}

(
  path_without swig* cmake* protoc* ninja* rustc cargo
  TIMEFORMAT='in isolation: %U s user + %S s system'
  time install in_isolation "$sdist" "${isolated[@]}" || fail "$(tail -n 20 "$work/in_isolation.txt")"
  loads in_isolation
  # setuptools and wheel as Debian 12 packages them.
  export CFLAGS=-O0
  install with_debians "$sdist" "${plain[@]}" || fail "$(tail -n 20 "$work/with_debians.txt")"
  loads with_debians
)
size=$(du -sk "$work/in_isolation" | cut -f 1)
[ "$size" -le 8192 ] || fail "$size KiB on disk"
echo "$size KiB on disk"

(
  # A checkout, staged by the backend.
  export CFLAGS=-O0
  install from_checkout "$top/python" "${plain[@]}" || fail "$(tail -n 20 "$work/from_checkout.txt")"
  loads from_checkout
)
(
  # shellcheck disable=SC2086
  set -f; path_without $compilers
  inert no_compiler "no C compiler"
)
for header in Python.h curl/curl.h zlib.h protobuf-c/protobuf-c.h; do
  (
    spoil_header "$header"
    inert "no_${header//[^a-zA-Z]/_}" "$header"
  )
done
(
  spoil_header sys/prctl.h
  inert does_not_compile "it could not be compiled"
)
