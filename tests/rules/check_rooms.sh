#!/usr/bin/env bash
# check_rooms.sh SOURCE_DIR: a room of core/src, or of the server there, includes
# only rooms below it, and each folder is a room that has its place in the order.
set -euo pipefail
cd "$1"
status=0
# Rooms of one height do not include each other.
declare -A height=(
  [util]=0 [settings]=1 [label]=1 [unwind]=1 [sampler]=2 [span]=2 [profile]=3
  [collect]=4 [page]=0 [export]=4 [session]=5 [command]=6 [server]=7
  # of the server
  [model]=0 [http]=1 [store]=1 [receive]=2 [query]=2 [traces]=3 [scrape]=3 [exported]=3
)

for room in */; do
  if [ -z "${height[${room%/}]:-}" ]; then
    echo "$room has no place in the order of rooms" >&2
    status=1
  fi
done
while IFS=: read -r file line include; do
  from=${file%%/*} to=${include#*\"../} to=${to%%/*}
  if [ "$from" != "$to" ] && [ "${height[$from]:-0}" -le "${height[$to]:-9}" ]; then
    echo "$file:$line: $from may not include $to" >&2
    status=1
  fi
done < <(grep -nE '^#include "\.\./[a-z]' ./*/*.[ch] | sed 's|^\./||')
exit $status
