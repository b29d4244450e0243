#!/usr/bin/env bash
# check_tree.sh WORK BUILD_DIR LIBDIR: installs the build in BUILD_DIR, moves the installed tree,
# and checks its files.
source "$(dirname "$0")/consumer_common.sh"
work=$1 build_dir=$2 libdir=$3

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build_dir" --prefix "$work/first" > /dev/null
mv "$work/first" "$work/prefix"
echo "$libdir" > "$work/libdir"
for file in include/spanprof/spanprof.h include/spanprof/version.h \
  include/spanprof/runtime.h \
  "$libdir/libspanprof.a" "$libdir/libspanprof.so" \
  "$libdir/pkgconfig/spanprof.pc" \
  "$libdir/cmake/spanprof/spanprofConfig.cmake"; do
  test -e "$work/prefix/$file" || {
    echo "not installed: $file" >&2
    exit 1
  }
done
test "$("$work/prefix/bin/spanprof" version | awk '{ print $2 }')" = \
  "$(PKG_CONFIG_PATH=$work/prefix/$libdir/pkgconfig "$PKG_CONFIG" --modversion spanprof)" || {
  echo "the command's version is not that of the library" >&2
  exit 1
}
if grep -rl "$work/first" "$work/prefix" --include='*.pc' --include='*.cmake'; then
  echo "the files above contain the path to which the tree was installed first" >&2
  exit 1
fi
