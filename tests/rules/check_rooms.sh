#!/usr/bin/env bash
# check_rooms.sh CORE_DIR: each folder of the library (src) and of the wings
# beside it is a room with a place in the order below. A room includes only
# headers of rooms below it. Includes from another room name the path below src
# or, for a wing, below core.
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
  if [ -z "${height[${room#src/}]:-}" ]; then
    echo "core/$room has no place in the order of rooms" >&2
    status=1
  fi
done < <(find src command server -mindepth 1 -type d)
while IFS=: read -r file line include; do
  from=${file%/*} to=${include#*\"}
  from=${from#src/} to=${to%/*}
  if [ "${height[$from]:-0}" -le "${height[$to]:-99}" ]; then
    echo "core/$file:$line: $from may not include $to" >&2
    status=1
  fi
done < <(grep -rnE --include='*.[ch]' '^#include "[^"]*/' src/*/ command server page/*.c | grep -vE '_unity\.c:')
exit $status
