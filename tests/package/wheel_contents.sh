#!/usr/bin/env bash
# wheel_contents.sh: checks that the sdist and the wheels contain exactly the
# files that are listed here, and that their names have the version of the C
# header.
source "$(dirname "$0")/common.sh"
export LC_ALL=C

modules() {
  (cd python/src && find . -name '*.egg-info' -prune -o -name __pycache__ -prune -o -type f -print) | sed 's|^\./||'
}

{
  printf '%s\n' MANIFEST.in PKG-INFO README.md pyproject.toml setup.cfg setup.py _build/backend.py _build/packages.py
  modules | sed 's|^|src/|'
  printf 'src/spanprof.egg-info/%s\n' PKG-INFO SOURCES.txt dependency_links.txt entry_points.txt requires.txt top_level.txt
  find core/include core/src core/command core/page/*.[ch] core/formats bindings/common bindings/python \( -name '*.[ch]' -o -name '*.map' \) ! -path core/command/main.c | sed 's|^|vendor/|'
  printf 'vendor/%s\n' LICENSE swig/{control,option_values,stats_fields}.h swig/lang/python_values.h \
    generated/{profile,push}.pb-c.{c,h} generated/spanprof_wrap_py.c
  # The page, which npm builds if it is installed.
  ! command -v npm > /dev/null || echo vendor/core/page/page.html
} | sort > "$work/expected"
tar -tzf build/sdist/spanprof-*.tar.gz | sed 's|^[^/]*/||; /\/$/d; /^$/d' | sort > "$work/found"
diff -u "$work/expected" "$work/found" || fail "The sdist has unexpected files (+) or misses expected ones (-)."
echo "sdist: $(wc -l < "$work/found") files, $(stat -c %s build/sdist/*.tar.gz) bytes"

version=$(sed -nE 's/^#define SPANPROF_VERSION_(MAJOR|MINOR|PATCH) +//p' core/include/spanprof/version.h | paste -sd .)
for path in build/sdist/*.tar.gz build/wheels/*/*.whl; do
  [[ ${path##*/} =~ ^spanprof-"$version"[-.] ]] || fail "The name of $path does not have version $version."
done

for wheel in build/wheels/*/*.whl; do
  { modules; echo spanprof/_native.so; } | sort > "$work/expected"
  python3 -m zipfile -l "$wheel" | awk 'NR > 1 { print $1 }' |
    sed -E '/\.dist-info\//d; s/_native\.cpython-[^/]*\.so/_native.so/' | sort > "$work/found"
  diff -u "$work/expected" "$work/found" || fail "$wheel has unexpected files (+) or misses expected ones (-)."
  rm -rf "$work/wheel"
  python3 -m zipfile -e "$wheel" "$work/wheel"
  only_needs "$(echo "$work"/wheel/spanprof/_native*.so)" PyInit__native
  grep -qx 'spanprof = spanprof.__main__:main' "$work"/wheel/*.dist-info/entry_points.txt
  [ -f "$(find "$work"/wheel/*.dist-info -name LICENSE)" ] || fail "$wheel has no licence"
  if grep -raF "$top" "$work/wheel"; then
    fail "$wheel contains the path of this checkout."
  fi
done
