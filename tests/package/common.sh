# shellcheck shell=bash
#
# Functions for the checks of the gem and of the wheel, which source this file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
top=$PWD
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
compilers='*gcc* *clang* cc c89* c99* c++* g++* *-cc *-c++ *-g++* tcc'

fail() {
  echo "$*" >&2
  exit 1
}

# path_without PATTERN...: sets PATH to one folder, which has links to all
# programs on PATH except those whose names match a pattern.
path_without() {
  local folder pattern
  local -a folders

  IFS=: read -r -a folders <<< "$PATH"
  mkdir -p "$work/bin"
  for folder in "${folders[@]}"; do
    find -L "$folder/" -maxdepth 1 -type f -executable -print0 2> /dev/null |
      xargs -0r ln -st "$work/bin" 2> /dev/null || true # of programs with the same name, the first one is linked
  done
  for pattern in "$@"; do
    find "$work/bin" -maxdepth 1 -name "$pattern" -delete
  done
  export PATH=$work/bin
}

# spoil_header NAME: makes the inclusion of the header NAME an error, and of no
# other header. Sets CFLAGS to -O0, because the speed of the compiled code does
# not matter here.
spoil_header() {
  rm -rf "$work/include"
  mkdir -p "$work/include/$(dirname "$1")"
  echo '#error "not to be had"' > "$work/include/$1"
  export CPATH=$work/include CFLAGS="-I$work/include -O0"
}

# only_needs LIBRARY.so SYMBOL: checks that the library exports only SYMBOL, is
# linked only with the libraries that the README names, and is hardened.
only_needs() {
  local exported foreign

  exported=$(nm -D --defined-only "$1" | awk '{print $3}')
  [ "$exported" = "$2" ] || fail "$1 exports: $exported"
  foreign=$(readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' |
    grep -vE '^(libcurl\.so\.4|libprotobuf-c\.so\.1|libz\.so\.1|libm\.so\.6|libc\.so\.6|libpthread\.so\.0|libgcc_s\.so\.1|ld-linux.*|libruby.*|libpython.*)$' || true)
  [ -z "$foreign" ] || fail "$1 is linked with: $foreign"
  readelf -d "$1" | grep -q 'FLAGS_1.*NOW.*NODELETE' || fail "$1 is not linked with -z now -z nodelete"
  tests/abi/check_hardening.sh "$1" fortified || fail "$1 is not hardened"
  echo "$(basename "$1"): one symbol, $2"
}

# in_a_box COMMAND...: runs the command as the user nobody (if this user is
# root), on a read-only file system (if mount namespaces are allowed).
in_a_box() {
  local -a nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)

  if [ "$(id -u)" -ne 0 ]; then
    nobody=()
  fi
  if unshare -m true 2> /dev/null; then
    unshare -m bash -c 'mount -o remount,ro,bind / && ! touch /var/tmp/.spanprof 2> /dev/null && exec "$@"' \
      box env -i PATH=/usr/bin:/bin HOME=/nonexistent "${box[@]}" "${nobody[@]}" "$@"
  else
    echo "Mount namespaces are not allowed here, so the file system is writable."
    env -i PATH=/usr/bin:/bin HOME=/nonexistent "${box[@]}" "${nobody[@]}" "$@"
  fi
}
box=()

# with_sink COMMAND...: runs the command while the stand-in server of tests/sink
# listens at the address in $sink.
with_sink() {
  local port pid status=0

  coproc receiver { exec python3 "$top/tests/sink/sink.py" 2> "$work/sink.txt"; }
  pid=$receiver_PID
  read -r -t 20 _ port <&"${receiver[0]}" || fail "no receiver: $(cat "$work/sink.txt")"
  sink=http://127.0.0.1:$port
  "$@" || status=$?
  kill "$pid"
  wait "$pid" 2> /dev/null || true
  return $status
}
