#!/usr/bin/env bash
# check_folders.sh SOURCE_DIR: each folder of the library (core/src), of the wings
# beside it and of the bindings is a room with a place in the orders below. A room
# includes only headers of rooms below it. Includes from another room name the
# path below src, for a wing below core, for a binding below its own folder.
set -euo pipefail
cd "$1"
status=0
# Rooms of one height do not include each other.
declare -A core=(
  [util]=0 [util/text]=1 [util/memory]=2 [util/system]=3
  [settings]=10 [label]=10 [unwind/dwarf]=10 [unwind/elf]=11 [unwind]=12
  [sampler/handler]=20 [sampler]=21 [span]=20
  [profile/tables]=30 [profile/pprof]=31 [profile]=32
  [collect/samples]=40 [collect]=41
  [export/http]=40 [export/upload]=40 [export/spool]=41 [export]=42
  [session]=50
  [page]=50
  [command/shared]=60 [command/check]=61 [command/report]=61
  [command/print]=62 [command]=63
  [server/model]=70 [server/http/message]=80 [server/http]=81 [server/store/block]=80
  [server/store/tables]=81 [server/store]=82 [server/store/select]=83
  [server/store/maintenance]=84
  [server/receive/wire]=90 [server/receive/profile]=91
  [server/receive/otlp]=92 [server/receive/ingest]=92 [server/receive]=93
  [server/query/selector]=90 [server/query/wire]=91 [server/query/tree]=92
  [server/query/series]=93 [server/query/spans]=93 [server/query/format]=94
  [server/query/adhoc]=95 [server/query/calls]=96 [server/query]=97
  [server/traces]=100 [server/scrape]=100 [server/exported]=100
  [server]=110
)

declare -A ruby=(
  [base]=0 [vm]=1 [runtime]=2 [context]=3 [span]=4 [session]=5 [.]=6
)
declare -A python=(
  [base]=0 [memory]=1 [vm]=2 [context]=3 [span]=4 [process]=4 [session]=5 [.]=6
)

# check FOLDER ORDER TREE...: the rooms of FOLDER are in its TREEs.
check() {
  local folder=$1 room file line include from to
  local -n height=$2
  shift 2

  while read -r room; do
    if [ -z "${height[${room#src/}]:-}" ]; then
      echo "$folder/$room has no place in the order of rooms" >&2
      status=1
    fi
  done < <(cd "$folder" && find "$@" -name '*.[ch]' ! -name '*_unity.c' -printf '%h\n' | sort -u | sed 's|^\./||')
  while IFS=: read -r file line include; do
    file=${file#./} include=${include#*\"} from=.
    [[ $file != */* ]] || from=${file%/*}
    from=${from#src/} to=${include%/*}
    # Bindings include the library's headers too.
    [ "$folder" = core ] || [ -e "$folder/${include%\"*}" ] || continue
    if [ "${height[$from]:-0}" -le "${height[$to]:-999}" ]; then
      echo "$folder/$file:$line: $from may not include $to" >&2
      status=1
    fi
  done < <(cd "$folder" && grep -rnE --include='*.[ch]' '^#include "[^"]*/' "$@" | grep -vE '_unity\.c:')
}

check core core src command server page
check bindings/ruby ruby .
check bindings/python python .
exit $status
