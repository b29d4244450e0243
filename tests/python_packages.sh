#!/usr/bin/env bash
# python_packages.sh [--exporter] [PYTHON...]: puts pure Python packages that tests use into the
# build tree, for each CPython that is named (by default /usr/bin/python3). They come from the
# package index if pip reaches one, otherwise from Debian sid's packages; apt's own lists are not
# changed. The script can be run repeatedly.
#
# build/python-packages/3.X  OpenTelemetry, coverage, uvicorn; a folder for PYTHONPATH
# build/python-exporter/3.X  with --exporter: OpenTelemetry's exporter for HTTP, for which
#                            Debian's python3-protobuf and python3-requests are needed
# build/python-setuptools    setuptools, for CPythons that have no or an old setuptools
# build/python-wheels        setuptools as a wheel, for isolated builds
# build/python-debs          packages downloaded from Debian sid; --debs downloads only these
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
exec 9> build/python-packages.lock
flock 9 # another stage may fill the same folders
packages=$PWD/build/python-packages
setuptools=$PWD/build/python-setuptools
wheels=$PWD/build/python-wheels
debs=$PWD/build/python-debs
exporters=$PWD/build/python-exporter

wanted=(
  opentelemetry-api opentelemetry-sdk opentelemetry-semantic-conventions
  opentelemetry-instrumentation opentelemetry-instrumentation-wsgi
  opentelemetry-instrumentation-flask opentelemetry-instrumentation-asgi
  opentelemetry-util-http typing-extensions packaging wrapt asgiref coverage
  uvicorn h11 click
)

# Debian's packages of the exporter. They also need packages of Debian's stable release.
exporter_debs=(
  opentelemetry-exporter-otlp-proto-http opentelemetry-exporter-otlp-proto-common
  opentelemetry-exporter-otlp-common opentelemetry-exporter-http-transport
  opentelemetry-proto
)

# has FOLDER: whether the folder is complete and has the packages that are wanted now.
has() {
  [ "$(cat "$1/.complete" 2> /dev/null)" = "${wanted[*]}" ]
}

# fill FOLDER... COMMAND: empties the folders and fills them with COMMAND. `set -e` has no effect in
# COMMAND, so it must return a status itself.
fill() {
  local folders=("${@:1:$#-1}") folder

  rm -rf "${folders[@]}"
  mkdir -p "${folders[@]}"
  "${@: -1}" || return 1
  for folder in "${folders[@]}"; do
    echo "${wanted[*]}" > "$folder/.complete"
  done
}

# sid COMMAND...: runs a command of apt for the suite sid, with separate lists and downloads.
sid() {
  local command=$1
  shift
  "$command" -q -o Dir::State="$debs/state" -o Dir::Cache="$debs/cache" \
    -o Dir::State::status=/dev/null -o Dir::Etc::SourceList=/dev/null \
    -o Dir::Etc::SourceParts="$debs/sources" -o APT::Sandbox::User=root \
    -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false "$@"
}

debs_from_sid() {
  local mirror

  mkdir -p "$debs"/{state/lists/partial,cache/archives/partial,sources}
  # shellcheck disable=SC2016 # apt fills it in
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
    sed -nE 's|^(.*/debian)/$|\1|p' | head -n 1)
  cat > "$debs/sources/sid.sources" << SOURCES
Types: deb
URIs: ${mirror:-http://deb.debian.org/debian}
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
  mkdir "$debs/exporter"
  (cd "$debs" && sid apt-get update && sid apt-get download python3-setuptools-whl "${wanted[@]/#/python3-}") &&
    (cd "$debs/exporter" && sid apt-get download "${exporter_debs[@]/#/python3-}") &&
    rm -r "$debs"/{state,cache,sources}
}

need_debs() {
  has "$debs" || fill "$debs" debs_from_sid > build/python-debian.txt 2>&1 || {
    tail -n 20 build/python-debian.txt >&2
    return 1
  }
}

# unpack FOLDER DEB...: unpacks all files of the packages into the folder.
unpack() {
  local folder=$1 deb
  shift

  for deb in "$@"; do
    dpkg-deb -x "$deb" "$folder" || return 1
  done
}

pip() {
  "$python" -m pip --disable-pip-version-check --retries 0 --timeout 15 -q "$@"
}

# Downloads the newest setuptools that supports all CPythons from 3.10 on.
setuptools_from_index() {
  pip download --no-deps --only-binary :all: --python-version 3.10 -d "$wheels" 'setuptools>=70.1' &&
    pip install --no-deps --target "$setuptools" "$wheels"/setuptools-*.whl
}

setuptools_from_debian() {
  local wheel unpacked=$debs/unpacked

  need_debs && unpack "$unpacked" "$debs"/python3-setuptools-whl_*.deb || return 1
  wheel=$(cd "$unpacked/usr/share/python-wheels" && echo setuptools-*.whl)
  # Debian's setuptools reads options that only Debian's own CPython sets, so the line that is
  # appended sets them.
  "$python" -m zipfile -e "$unpacked/usr/share/python-wheels/$wheel" "$setuptools" && rm -r "$unpacked" &&
    echo 'install.install_layout = install.prefix_option = None' >> "$setuptools/setuptools/command/install.py" &&
    (cd "$setuptools" && "$python" -m zipfile -c "$wheels/$wheel" ./*)
}

packages_from_index() {
  pip install --target "$packages/$version" "${wanted[@]}"
}

packages_from_debian() {
  local unpacked=$debs/unpacked

  need_debs && unpack "$unpacked" "$debs"/*.deb &&
    mv "$unpacked"/usr/lib/python3/dist-packages/* "$packages/$version" && rm -r "$unpacked"
}

exporter_from_index() {
  pip install --target "$exporters/$version" opentelemetry-exporter-otlp-proto-http
}

exporter_from_debian() {
  local unpacked=$debs/unpacked

  need_debs && unpack "$unpacked" "$debs"/exporter/*.deb "$debs"/python3-opentelemetry-{api,sdk,semantic}*.deb &&
    mv "$unpacked"/usr/lib/python3/dist-packages/* "$exporters/$version" && rm -r "$unpacked"
}

# from_either WHAT FOLDER...: fills the folders from the package index or else from Debian, and
# compiles the Python files. They are compiled here, because some tests forbid Python to write
# bytecode. Files that only another version of CPython can compile are left out.
from_either() {
  local what=$1
  shift

  fill "$@" "${what}_from_index" > build/python-index.txt 2>&1 || {
    echo "$what of CPython $version: the package index failed ($(tail -n 1 build/python-index.txt)), so Debian sid's packages are used."
    fill "$@" "${what}_from_debian"
  }
  "$python" -m compileall -qq "$@" || true
}

mkdir -p build
if [ "${1:-}" = --debs ]; then
  need_debs
  exit
fi
exporter=
if [ "${1:-}" = --exporter ]; then
  exporter=1
  shift
fi
if [ $# -eq 0 ]; then
  set -- /usr/bin/python3
fi
for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  has "$setuptools" || from_either setuptools "$setuptools" "$wheels"
  has "$packages/$version" || from_either packages "$packages/$version"
  [ -z "$exporter" ] || has "$exporters/$version" || from_either exporter "$exporters/$version"
done
