#!/usr/bin/env bash
# check_folders.sh SOURCE_DIR: each folder of the library (core/src), of the other
# components and of the bindings has a level in the tables below. This checks that the
# files of a folder include only headers of folders with a lower level. The path in an
# #include of another folder's header is relative to core/src (library), core (other
# components) or the binding's folder.
set -euo pipefail
cd "$1"
status=0
# Folders of the same level must not include each other's headers.
declare -A core=(
  [util]=0 [util/text]=1 [util/memory]=2 [util/system]=3
  [settings]=10 [label]=10 [unwind/dwarf]=10 [unwind/elf]=11 [unwind]=12
  [sampler/handler]=20 [sampler]=21 [span]=20
  [profile/tables]=30 [profile/pprof]=31 [profile]=32
  [collect/samples]=40 [collect]=41
  [export/http]=40 [export/upload]=40 [export/spool]=41 [export]=42
  [session]=50
  [page]=50 [formats]=51
  [command/shared]=60 [command/check]=61 [command/report]=61
  [command/print]=62 [command]=63
  [server/model]=70 [server/http/message]=80 [server/http]=81 [server/store/block]=80
  [server/store/tables]=81 [server/store]=82 [server/store/select]=83
  [server/store/maintenance]=84
  [server/receive/wire]=90 [server/receive/profile]=91
  [server/receive/otlp]=92 [server/receive/ingest]=92 [server/receive]=93
  [server/query/selector]=90 [server/query/wire]=91 [server/query/tree]=92
  [server/query/series]=93 [server/query/spans]=93 [server/query/format]=94
  [server/query/adhoc]=95 [server/query/calls]=96 [server/query/traces]=97
  [server/query]=98
  [server/traces]=100 [server/scrape]=100 [server/exported]=100
  [server]=110
)

declare -A ruby=(
  [base]=0 [vm]=1 [runtime]=2 [context]=3 [span]=4 [session]=5 [.]=6
)
declare -A python=(
  [base]=0 [memory]=1 [vm]=2 [context]=3 [span]=4 [process]=4 [session]=5 [.]=6
)

# check ROOT LEVELS TREE...: check all folders below ROOT/TREE. LEVELS is the name of a
# table with their levels.
check() {
  local root=$1 folder file line include from to
  local -n level=$2
  shift 2

  while read -r folder; do
    if [ -z "${level[${folder#src/}]:-}" ]; then
      echo "$root/$folder has no level" >&2
      status=1
    fi
  done < <(cd "$root" && find "$@" -name '*.[ch]' ! -name '*_unity.c' -printf '%h\n' | sort -u | sed 's|^\./||')
  while IFS=: read -r file line include; do
    file=${file#./} include=${include#*\"} from=.
    [[ $file != */* ]] || from=${file%/*}
    from=${from#src/} to=${include%/*}
    # Skip the headers of the library, which bindings also include.
    [ "$root" = core ] || [ -e "$root/${include%\"*}" ] || continue
    if [ "${level[$from]:-0}" -le "${level[$to]:-999}" ]; then
      echo "$root/$file:$line: $from may not include $to" >&2
      status=1
    fi
  done < <(cd "$root" && grep -rnE --include='*.[ch]' '^#include "[^"]*/' "$@" | grep -vE '_unity\.c:')
}

check core core src command server page formats
check bindings/ruby ruby .
check bindings/python python .
exit $status
