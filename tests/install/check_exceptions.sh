#!/usr/bin/env bash
# check_exceptions.sh WORK: checks that C++ programs with the shared and with the static library can
# throw exceptions while they are profiled.
source "$(dirname "$0")/consumer_common.sh"
installed "$1"
export PKG_CONFIG_PATH=$libdir/pkgconfig

# shellcheck disable=SC2046
"$CXX" -std=c++11 -pthread "$here/exceptions.cc" -o "$dir/shared" \
  $("$PKG_CONFIG" --cflags --libs spanprof) -Wl,-rpath,"$libdir"
flags=$("$PKG_CONFIG" --static --cflags --libs spanprof)
# shellcheck disable=SC2086
"$CXX" -std=c++11 -pthread "$here/exceptions.cc" -o "$dir/static" \
  ${flags//-lspanprof/-l:libspanprof.a}
for program in shared static; do
  links_not "$dir/$program" libunwind
  runs "$dir/$program"
done
