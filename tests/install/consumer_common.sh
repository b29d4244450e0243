# shellcheck shell=bash
# Sourced by the checks of this folder. Sets strict mode and defines the functions that they share.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The environment of the user who runs the tests must not configure a session or disable it.
for name in $(compgen -e | grep -E '^(PYROSCOPE|OTEL)_' || true); do
  unset "$name"
done

# installed WORK: sets `prefix` and `libdir` of the installed tree, and `dir`, a new directory for
# this check.
installed() {
  prefix=$1/prefix
  libdir=$prefix/$(cat "$1/libdir")
  dir=$1/$(basename "$0" .sh)
  rm -rf "$dir"
  mkdir -p "$dir/profiles"
}

# runs PROGRAM: checks that the program succeeds and writes a profile of itself.
runs() {
  "$1" "$dir/profiles"
  compgen -G "$dir/profiles/*.pb.gz" > /dev/null || {
    echo "no profile was written" >&2
    return 1
  }
}

# links PROGRAM LIBRARY, links_not PROGRAM LIBRARY: check that the program loads the library when it
# starts, or that it does not.
links() {
  ldd "$1" | grep "$2" > /dev/null || {
    echo "$1 does not load $2" >&2
    return 1
  }
}
links_not() {
  if ldd "$1" | grep "$2"; then
    echo "$1 loads $2" >&2
    return 1
  fi
}
