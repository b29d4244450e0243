#!/usr/bin/env bash
# gem_install.sh RUBY: an installation takes a C compiler and headers alone, one
# without them does no harm, and SPANPROF_REQUIRED=1 refuses it.
source "$(dirname "$0")/common.sh"
ruby=$1

# install NAME: into a folder of its own, whose libraries are sought first.
install() {
  export GEM_HOME=$work/$1 GEM_PATH=$work/$1
  "$ruby" -S gem install --local --force --no-document "$top/build/spanprof.gem" > "$work/$1.txt" 2>&1
}

# inert NAME REASON: NAME is installed, loads, says REASON, and leaves programs
# alone.
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
  if (SPANPROF_REQUIRED=1 install "required"); then
    fail "$1: installed although SPANPROF_REQUIRED=1"
  fi
}

(
  path_without swig* cmake* protoc* ninja* rustc cargo
  TIMEFORMAT='installed with %U s user + %S s system'
  time install plain || fail "$(tail -n 20 "$work/plain.txt")"
  "$ruby" -e 'require "spanprof"; Spanprof.available? or abort Spanprof.unavailable_reason'
)
only_needs "$(find "$work/plain/gems" -name spanprof_native.so)" Init_spanprof_native
size=$(du -sk "$work/plain" | cut -f 1)
[ "$size" -le 8192 ] || fail "$size KiB on disk"
echo "$size KiB on disk"

(
  set -f
  # shellcheck disable=SC2086 # patterns, for path_without
  path_without $compilers
  inert no_compiler "no C compiler"
)
for header in curl/curl.h zlib.h protobuf-c/protobuf-c.h; do
  (
    spoil_header "$header"
    inert "no_${header//[^a-z]/_}" "$header"
  )
done
(
  echo 'RbConfig::CONFIG["rubyhdrdir"] = RbConfig::MAKEFILE_CONFIG["rubyhdrdir"] = "/nonexistent"' > "$work/no_headers.rb"
  export RUBYOPT="-rrbconfig -r$work/no_headers.rb"
  inert no_ruby_headers "Ruby's own headers"
)
(
  spoil_header sys/prctl.h
  inert does_not_compile "it could not be compiled"
)
