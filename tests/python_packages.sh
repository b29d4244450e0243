#!/usr/bin/env bash
# python_packages.sh [--exporter] [PYTHON...]: pure Python packages that tests use, in the
# build tree, for each CPython named (/usr/bin/python3). From the package index
# where pip reaches one, else out of Debian sid's packages, without touching
# apt's own lists. Can be repeated.
#
# build/python-packages/3.X  OpenTelemetry, coverage, uvicorn; goes onto PYTHONPATH
# build/python-exporter/3.X  with --exporter: OpenTelemetry's exporter for HTTP, for which
#                            Debian's python3-protobuf and python3-requests are needed
# build/python-setuptools    setuptools, for CPythons that have none or an old one
# build/python-wheels        the same as a wheel, for builds in isolation
# build/python-debs          what Debian sid gave; alone with: python_packages.sh --debs
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

# Debian's, beside what they need of its stable packages.
exporter_debs=(
  opentelemetry-exporter-otlp-proto-http opentelemetry-exporter-otlp-proto-common
  opentelemetry-exporter-otlp-common opentelemetry-exporter-http-transport
  opentelemetry-proto
)

# has FOLDER: it was completed, with what is wanted now.
has() {
  [ "$(cat "$1/.complete" 2> /dev/null)" = "${wanted[*]}" ]
}

# fill FOLDER... COMMAND: makes the folders anew with COMMAND, behind whose back
# the shell passes over errors.
fill() {
  local folders=("${@:1:$#-1}") folder

  rm -rf "${folders[@]}"
  mkdir -p "${folders[@]}"
  "${@: -1}" || return 1
  for folder in "${folders[@]}"; do
    echo "${wanted[*]}" > "$folder/.complete"
  done
}

# apt with lists and downloads of its own, of the suite sid.
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

# unpack FOLDER DEB...: everything that the packages hold.
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

# The newest that serves every CPython from 3.10 on.
setuptools_from_index() {
  pip download --no-deps --only-binary :all: --python-version 3.10 -d "$wheels" 'setuptools>=70.1' &&
    pip install --no-deps --target "$setuptools" "$wheels"/setuptools-*.whl
}

setuptools_from_debian() {
  local wheel unpacked=$debs/unpacked

  need_debs && unpack "$unpacked" "$debs"/python3-setuptools-whl_*.deb || return 1
  wheel=$(cd "$unpacked/usr/share/python-wheels" && echo setuptools-*.whl)
  # Debian's copy asks for options that only Debian's own CPython has.
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

# from_either WHAT FOLDER...: compiled here, as a program may be told to leave no
# bytecode behind. A file that only another CPython can compile does no harm.
from_either() {
  local what=$1
  shift

  fill "$@" "${what}_from_index" > build/python-index.txt 2>&1 || {
    echo "$what of CPython $version: not from a package index ($(tail -n 1 build/python-index.txt)); taking Debian sid's."
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
