#!/usr/bin/env bash
# check_find_package.sh WORK: the shared library, without the development files
# of what it is made of.
source "$(dirname "$0")/consumer_common.sh"
installed "$1"

cmake -S "$here/find_package" -B "$dir" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
cmake --build "$dir"
links "$dir/consumer" libspanprof.so
links_not "$dir/consumer" libunwind
runs "$dir/consumer"
