#!/usr/bin/env bash
# check_add_subdirectory.sh WORK SOURCE_DIR: as a part of another project, both
# libraries, with nothing of ours in that project's installation.
source "$(dirname "$0")/consumer_common.sh"
mkdir -p "$1"
dir=$1/check_add_subdirectory
rm -rf "$dir"
mkdir -p "$dir/profiles"

cmake -S "$here/add_subdirectory" -B "$dir" -DSPANPROF_SOURCE_DIR="$2"
cmake --build "$dir"
links "$dir/consumer" libspanprof.so
links_not "$dir/consumer_static" libspanprof
runs "$dir/consumer"
runs "$dir/consumer_static"
if grep -a SPANPROF_TEST_ "$dir/consumer_static"; then
  echo "a library without tests reads variables of tests" >&2
  exit 1
fi
cmake --install "$dir" --prefix "$dir/prefix"
if find "$dir/prefix" -name '*spanprof*' 2> /dev/null | grep .; then
  echo "installed with the other project" >&2
  exit 1
fi
