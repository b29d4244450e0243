#!/usr/bin/env bash
# gem_install.sh RUBY: checks that the gem can be installed with only a C
# compiler, make and headers; that the installation fails with advice if one of
# them is missing; and that with SPANPROF_REQUIRED=0 such an installation
# succeeds, and the gem does nothing.
source "$(dirname "$0")/common.sh"
ruby=$1

# install NAME: installs the gem into the folder $work/NAME, and makes Ruby use
# that folder.
install() {
  export GEM_HOME=$work/$1 GEM_PATH=$work/$1
  "$ruby" -S gem install --local --force --no-document "$top/build/spanprof.gem" > "$work/$1.txt" 2>&1
}

# inert NAME REASON: checks that the gem can be installed and loaded, that its
# unavailable_reason contains REASON, and that its methods do nothing.
inert() {
  install "$1" || fail "$1: the installation failed: $(tail -n 5 "$work/$1.txt")"
  "$ruby" -e '
    require "spanprof"
    abort "available" if Spanprof.available?
    abort "reason: #{Spanprof.unavailable_reason}" unless Spanprof.unavailable_reason.include?(ARGV[0])
    abort "started" if Spanprof.start(application_name: "inert")
    abort "no block" unless Spanprof.label(a: "b") { 42 } == 42
    Spanprof.stop
  ' "$2" 2> "$work/said" || fail "$1: $(cat "$work/said")"
  echo "$1: $2"
}

# refused NAME REASON [HOW]: checks that the installation fails, with one line
# that has REASON and the advice HOW.
refused() {
  local said

  if install "refused_$1"; then
    fail "$1: installed although it cannot profile"
  fi
  said=$(grep -cE "^spanprof is not installed: .*$2.*${3:-}.*; set SPANPROF_REQUIRED=0 " "$work/refused_$1.txt" || true)
  [ "$said" -eq 1 ] || fail "$1: $(tail -n 20 "$work/refused_$1.txt")"
  echo "$1: refused"
}

# fails NAME REASON [HOW]: calls `refused`, and then `inert` with SPANPROF_REQUIRED=0.
fails() {
  refused "$@"
  SPANPROF_REQUIRED=0 inert "$1" "$2"
}

(
  path_without swig* cmake* protoc* ninja* rustc cargo pkg-config pkgconf
  TIMEFORMAT='installed with %U s user + %S s system'
  time install plain || fail "$(tail -n 20 "$work/plain.txt")"
  "$ruby" -e 'require "spanprof"; Spanprof.available? or abort Spanprof.unavailable_reason'
)
only_needs "$(find "$work/plain/gems" -name spanprof_native.so)" Init_spanprof_native
! grep -rqa --include=spanprof_native.so SPANPROF_TEST_ "$work/plain" || fail "the library reads SPANPROF_TEST_ variables"
size=$(du -sk "$work/plain" | cut -f 1)
[ "$size" -le 9216 ] || fail "$size KiB on disk"
echo "$size KiB on disk"

(
  set -f
  # shellcheck disable=SC2086 # $compilers has several patterns
  path_without $compilers
  fails no_compiler "no C compiler" "apt-get install gcc make libc6-dev"
)
(
  path_without make gmake
  refused no_make "make is missing" "apt-get install gcc make libc6-dev"
)
(
  spoil_header zlib.h
  fails no_zlib "zlib.h" "apt-get install zlib1g-dev"
  mkdir "$work/include/curl" "$work/include/protobuf-c"
  cp "$work/include/zlib.h" "$work/include/curl/curl.h"
  cp "$work/include/zlib.h" "$work/include/protobuf-c/protobuf-c.h"
  refused no_headers "curl/curl.h, zlib.h, protobuf-c/protobuf-c.h" "libcurl4-openssl-dev zlib1g-dev libprotobuf-c-dev"
)
(
  echo 'RbConfig::CONFIG["rubyhdrdir"] = RbConfig::MAKEFILE_CONFIG["rubyhdrdir"] = "/nonexistent"' > "$work/no_headers.rb"
  # shellcheck disable=SC2030 # for this subshell only
  export RUBYOPT="-rrbconfig -r$work/no_headers.rb"
  fails no_ruby_headers "ruby.h" "apt-get install ruby-dev"
)
(
  echo 'RbConfig::CONFIG["host_os"] = "darwin23"' > "$work/mac.rb"
  # shellcheck disable=SC2031
  export RUBYOPT="-rrbconfig -r$work/mac.rb"
  inert not_linux "darwin23 is not supported: profiling needs Linux"
  SPANPROF_REQUIRED=1 refused required_not_linux "profiling needs Linux"
)
(
  spoil_header sys/prctl.h
  fails does_not_compile "it could not be compiled"
)
