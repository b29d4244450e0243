#!/usr/bin/env bash
# check_pkg_config.sh WORK: builds a program with the shared library by one compiler command with
# pkg-config.
source "$(dirname "$0")/consumer_common.sh"
installed "$1"
export PKG_CONFIG_PATH=$libdir/pkgconfig

# shellcheck disable=SC2046
"$CC" "$here/consumer.c" -o "$dir/consumer" \
  $("$PKG_CONFIG" --cflags --libs spanprof) -Wl,-rpath,"$libdir"
links "$dir/consumer" "$libdir/libspanprof.so"
links_not "$dir/consumer" libunwind
runs "$dir/consumer"
