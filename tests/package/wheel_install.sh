#!/usr/bin/env bash
# wheel_install.sh: checks that the sdist can be installed with only a C
# compiler and headers, with and without pip's build isolation, and with
# Debian's setuptools; that the installation fails with advice if the compiler
# or a header is missing; and that with SPANPROF_REQUIRED=0 such an installation
# succeeds, and the package does nothing.
source "$(dirname "$0")/common.sh"
python=/usr/bin/python3
sdist=$(echo "$top"/build/sdist/*.tar.gz)
export PIP_NO_CACHE_DIR=1 PIP_NO_INDEX=1 PIP_FIND_LINKS=$top/build/python-wheels PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_ROOT_USER_ACTION=ignore
isolated=(--no-deps)
plain=(--no-deps --no-build-isolation)

# install NAME WHAT ARGUMENT...: installs WHAT into the folder $work/NAME, with
# arguments of pip.
install() {
  local name=$1 what=$2
  shift 2
  "$python" -m pip install -q --target "$work/$name" "$@" "$what" > "$work/$name.txt" 2>&1
}

loads() {
  PYTHONPATH=$work/$1 "$python" -c 'import spanprof; assert spanprof.available(), spanprof.unavailable_reason()'
  echo "$1: installed, available"
}

# refused NAME REASON [HOW]: checks that the installation fails, with one line
# that has REASON and the advice HOW, and leaves no package.
refused() {
  local said

  if install "refused_$1" "$sdist" "${plain[@]}"; then
    fail "$1: installed although it cannot profile"
  fi
  said=$(grep -cE "^ *spanprof is not installed: .*$2.*${3:-}.*; set SPANPROF_REQUIRED=0 " "$work/refused_$1.txt" || true)
  [ "$said" -eq 1 ] || fail "$1: $(tail -n 20 "$work/refused_$1.txt")"
  ! grep -q Traceback "$work/refused_$1.txt" || fail "$1: there is a traceback"
  [ ! -e "$work/refused_$1/spanprof" ] || fail "$1: files of the package were installed"
  echo "$1: refused"
}

# inert NAME REASON: checks that the package can be installed and loaded, that
# its unavailable_reason() contains REASON, and that its functions do nothing.
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
}

# fails NAME REASON [HOW]: calls `refused`, and then `inert` with SPANPROF_REQUIRED=0.
fails() {
  refused "$@"
  SPANPROF_REQUIRED=0 inert "$1" "$2"
}

(
  path_without swig* cmake* protoc* ninja* rustc cargo
  TIMEFORMAT='in isolation: %U s user + %S s system'
  time install in_isolation "$sdist" "${isolated[@]}" || fail "$(tail -n 20 "$work/in_isolation.txt")"
  loads in_isolation
  # This installation uses Debian 12's packages of setuptools and wheel.
  # shellcheck disable=SC2030 # for this subshell only
  export CFLAGS=-O0
  install with_debians "$sdist" "${plain[@]}" || fail "$(tail -n 20 "$work/with_debians.txt")"
  loads with_debians
)
! grep -rqa --include='_native*.so' SPANPROF_TEST_ "$work/in_isolation" || fail "the library reads SPANPROF_TEST_ variables"
size=$(du -sk "$work/in_isolation" | cut -f 1)
[ "$size" -le 8192 ] || fail "$size KiB on disk"
echo "$size KiB on disk"

(
  # This installation is from a checkout. The build backend makes the files of the sdist from it.
  # shellcheck disable=SC2030,SC2031 # for this subshell only
  export CFLAGS=-O0
  # SWIG must run only once, although pip calls the backend twice: for metadata
  # and for a wheel.
  mkdir "$work/counted"
  printf '#!/bin/sh\necho >> "%s"\nexec "%s" "$@"\n' "$work/swig_runs" "$(command -v swig)" > "$work/counted/swig"
  chmod +x "$work/counted/swig"
  PATH=$work/counted:$PATH install from_checkout "$top/python" "${plain[@]}" || fail "$(tail -n 20 "$work/from_checkout.txt")"
  [ "$(wc -l < "$work/swig_runs")" -eq 1 ] || fail "from_checkout: swig ran $(wc -l < "$work/swig_runs") times"
  loads from_checkout
)
(
  # without_tools NAME MESSAGE PATTERN...: checks that an installation from a checkout fails with the
  # message, if the tools that match a pattern are missing.
  without_tools() {
    local name=$1 said=$2
    shift 2
    path_without "$@"
    ! install "$name" "$top/python" "${plain[@]}" || fail "$name: installed"
    grep -qxE " *spanprof is not built: $said" "$work/$name.txt" || fail "$name: $(tail -n 20 "$work/$name.txt")"
    ! grep -q Traceback "$work/$name.txt" || fail "$name: there is a traceback"
    echo "$name: refused"
  }
  (without_tools no_swig 'swig is missing \(apt-get install swig\)' 'swig*')
  (without_tools no_protoc_c 'protoc-c is missing \(apt-get install protobuf-c-compiler\)' 'protoc*')
  (without_tools no_tools 'swig is missing, protoc-c is missing \(apt-get install swig protobuf-c-compiler\)' 'swig*' 'protoc*')
)
(
  set -f
  # shellcheck disable=SC2086 # $compilers has several patterns
  path_without $compilers
  fails no_compiler "no C compiler" "apt-get install gcc libc6-dev"
  PYTHONPATH=$work/no_compiler "$python" -c 'import spanprof; print(spanprof.unavailable_reason())' |
    grep -q '; to retry after fixing this: pip install --force-reinstall --no-cache-dir' || fail "the message has no command for a retry"
  mkdir -p "$work/conda/conda-meta" "$work/of_conda"
  echo "import sys; sys.base_prefix = '$work/conda'" > "$work/of_conda/sitecustomize.py"
  # shellcheck disable=SC2030,SC2031 # for this subshell only
  export PYTHONPATH=$work/of_conda
  refused of_conda "no C compiler" "conda install -c conda-forge c-compiler"
)
(
  spoil_header curl/curl.h
  fails no_curl_h curl/curl.h "apt-get install libcurl4-openssl-dev"
)
for header in Python.h:python3-dev zlib.h:zlib1g-dev protobuf-c/protobuf-c.h:libprotobuf-c-dev; do
  (
    spoil_header "${header%:*}"
    refused "no_${header//[^a-zA-Z0-9]/_}" "${header%:*}" "apt-get install ${header#*:}"
  )
done
(
  spoil_header sys/prctl.h
  fails does_not_compile "it could not be compiled"
)
(
  # Python reports another system. The build settings are loaded before sys.platform is changed,
  # because the name of their module contains it.
  mkdir "$work/other"
  echo 'import sys, sysconfig; sysconfig.get_config_vars(); sys.platform = "freebsd14"' > "$work/other/sitecustomize.py"
  # shellcheck disable=SC2030,SC2031 # for this subshell only
  export PYTHONPATH=$work/other
  inert another_system "freebsd14 is not supported"
  SPANPROF_REQUIRED=1 refused another_system "freebsd14 is not supported"
)
