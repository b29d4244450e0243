# shellcheck shell=bash
# Sourced by the checks: strict mode, and what they share.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# A session must not be configured, or kept off, by who runs the tests.
for name in $(compgen -e | grep -E '^(PYROSCOPE|OTEL)_' || true); do
  unset "$name"
done

# installed WORK: sets prefix, libdir; makes an empty directory for this check.
installed() {
  prefix=$1/prefix
  libdir=$prefix/$(cat "$1/libdir")
  dir=$1/$(basename "$0" .sh)
  rm -rf "$dir"
  mkdir -p "$dir/profiles"
}

# runs PROGRAM: it succeeds, and a profile of it was written.
runs() {
  "$1" "$dir/profiles"
  compgen -G "$dir/profiles/*.pb.gz" > /dev/null || {
    echo "no profile was written" >&2
    return 1
  }
}

# links PROGRAM LIBRARY / links_not PROGRAM LIBRARY: what it loads at start.
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
