#!/usr/bin/env bash
# check_binding_headers.sh SOURCE_DIR: checks that bindings/ and swig/ include exactly
# those internal headers of the core that core/docs/write-a-binding.md lists.
set -euo pipefail
cd "$1"
listed=$(sed -nE 's/^\| `(([a-z_]+\/)+[a-z_]+\.h)` \|.*/\1/p' core/docs/write-a-binding.md | sort)
used=$(grep -rhoE '^#include [<"]([a-z_]+/)+[a-z_]+\.h' bindings swig | sed 's/.*[<"]//' | sort -u |
  while read -r header; do [ ! -e "core/src/$header" ] && [ ! -e "core/$header" ] || echo "$header"; done)

[ -n "$listed" ]
diff <(echo "$listed") <(echo "$used") --label "core/docs/write-a-binding.md" --label "bindings and swig" -u
