#!/usr/bin/env bash
# check_add_subdirectory.sh WORK SOURCE_DIR: checks that another project can build spanprof by
# add_subdirectory() and use its shared and its static library, and that the project does not
# install any file of spanprof.
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
  echo "the library was built without tests, but reads environment variables of the tests" >&2
  exit 1
fi
cmake --install "$dir" --prefix "$dir/prefix"
if find "$dir/prefix" -name '*spanprof*' 2> /dev/null | grep .; then
  echo "the other project installs the files above" >&2
  exit 1
fi
