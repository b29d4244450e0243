#!/usr/bin/env bash
# check_pkg_config_static.sh WORK: builds a program with the static library, which the compiler
# command names; `pkg-config --static` lists the other libraries.
source "$(dirname "$0")/consumer_common.sh"
installed "$1"
export PKG_CONFIG_PATH=$libdir/pkgconfig

flags=$("$PKG_CONFIG" --static --cflags --libs spanprof)
# shellcheck disable=SC2086
"$CC" "$here/consumer.c" -o "$dir/consumer" \
  ${flags//-lspanprof/-l:libspanprof.a}
links_not "$dir/consumer" libspanprof
links_not "$dir/consumer" libunwind
runs "$dir/consumer"
