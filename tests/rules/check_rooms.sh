#!/usr/bin/env bash
# check_rooms.sh SOURCE_DIR: a room of core/src, and of the server there,
# includes only rooms below it, and each folder is a room that has its place in
# the order.
set -euo pipefail
cd "$1"
status=0
# Rooms of one height do not include each other.
declare -A height=(
  [util]=0 [page]=0 [settings]=1 [label]=1 [unwind]=1 [sampler]=2 [span]=2
  [profile]=3 [collect]=4 [export]=4 [session]=5 [command]=6
  [server/model]=7 [server/http]=8 [server/store]=8 [server/receive]=9
  [server/query]=9 [server/traces]=10 [server/scrape]=10 [server/exported]=10
  [server]=11
)

while read -r room; do
  if [ -z "${height[$room]:-}" ]; then
    echo "core/src/$room has no place in the order of rooms" >&2
    status=1
  fi
done < <(find . -mindepth 1 -type d -printf '%P\n')
while IFS=: read -r file line include; do
  from=${file%/*} at=/${file%/*} path=${include#*\"}
  while [[ $path == ../* ]]; do
    path=${path#../} at=${at%/*}
  done
  path=$at/$path to=${path%/*} to=${to#/}
  if [ "$from" != "$to" ] && [ "${height[$from]:-0}" -le "${height[$to]:-99}" ]; then
    echo "core/src/$file:$line: $from may not include $to" >&2
    status=1
  fi
done < <(grep -rnE --include='*.[ch]' '^#include "[^"]*/' ./*/ | sed 's|^\./||')
exit $status
