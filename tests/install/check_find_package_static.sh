#!/usr/bin/env bash
# check_find_package_static.sh WORK: builds a program by find_package() with spanprof's static
# library and the system's shared libraries.
source "$(dirname "$0")/consumer_common.sh"
installed "$1"

cmake -S "$here/find_package_static" -B "$dir" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$dir"
links_not "$dir/consumer" libspanprof
links_not "$dir/consumer" libunwind
links "$dir/consumer" libcurl.so
runs "$dir/consumer"
