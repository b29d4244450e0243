#!/usr/bin/env bash
# check_find_package.sh WORK: builds a program with the shared library by find_package(). This must
# not need the development files of the libraries that spanprof uses.
source "$(dirname "$0")/consumer_common.sh"
installed "$1"

cmake -S "$here/find_package" -B "$dir" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
cmake --build "$dir"
links "$dir/consumer" libspanprof.so
links_not "$dir/consumer" libunwind
runs "$dir/consumer"
