#!/usr/bin/env bash
# python_packages.sh: pure Python packages that tests of every CPython share, in
# the build tree. From the package index where pip reaches one, else out of
# Debian sid's packages, without touching apt's own lists. Can be repeated.
#
# build/python-packages    OpenTelemetry, coverage; goes onto PYTHONPATH
# build/python-setuptools  setuptools, for CPythons that have none or an old one
# build/python-wheels      the same as a wheel, for builds in isolation
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$PWD/build/python-packages
setuptools=$PWD/build/python-setuptools
wheels=$PWD/build/python-wheels
apt=$PWD/build/python-apt

wanted=(
  opentelemetry-api opentelemetry-sdk opentelemetry-semantic-conventions
  opentelemetry-instrumentation opentelemetry-instrumentation-wsgi
  opentelemetry-instrumentation-flask opentelemetry-instrumentation-asgi
  opentelemetry-util-http typing-extensions packaging wrapt asgiref coverage
)

from_index() {
  local pip=(python3 -m pip --disable-pip-version-check --retries 0 --timeout 15 -q)

  "${pip[@]}" download --no-deps -d "$wheels" 'setuptools>=70.1' &&
    "${pip[@]}" install --target "$setuptools" "$wheels"/setuptools-*.whl &&
    "${pip[@]}" install --target "$packages" "${wanted[@]}"
}

# apt with lists and downloads of its own, of the suite sid.
sid() {
  local command=$1
  shift
  "$command" -q -o Dir::State="$apt/state" -o Dir::Cache="$apt/cache" \
    -o Dir::State::status=/dev/null -o Dir::Etc::SourceList=/dev/null \
    -o Dir::Etc::SourceParts="$apt/sources" -o APT::Sandbox::User=root \
    -o Acquire::Languages=none "$@"
}

from_debian() {
  local mirror deb wheel

  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,sources,debs,unpacked}
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
    sed -nE 's|^(.*/debian)/$|\1|p' | head -n 1)
  cat > "$apt/sources/sid.sources" << EOF
Types: deb
URIs: ${mirror:-http://deb.debian.org/debian}
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
  sid apt-get update
  (cd "$apt/debs" && sid apt-get download python3-setuptools-whl "${wanted[@]/#/python3-}")
  for deb in "$apt"/debs/*.deb; do
    dpkg-deb -x "$deb" "$apt/unpacked"
  done
  mv "$apt"/unpacked/usr/lib/python3/dist-packages/* "$packages"
  wheel=$(cd "$apt/unpacked/usr/share/python-wheels" && ls setuptools-*.whl)
  python3 -m zipfile -e "$apt/unpacked/usr/share/python-wheels/$wheel" "$setuptools"
  # Debian's copy asks for options that only Debian's own CPython has.
  echo 'install.install_layout = install.prefix_option = None' >> "$setuptools/setuptools/command/install.py"
  (cd "$setuptools" && python3 -m zipfile -c "$wheels/$wheel" ./*)
  rm -rf "$apt"
}

if [ "$(cat "$packages/.complete" 2> /dev/null)" = "${wanted[*]}" ]; then
  exit 0
fi
rm -rf "$packages" "$setuptools" "$wheels" "$apt"
mkdir -p "$packages" "$setuptools" "$wheels"
from_index 2> build/python-index.txt || {
  echo "No package index is reached ($(tail -n 1 build/python-index.txt)); taking Debian sid's packages."
  rm -rf "${packages:?}"/* "${setuptools:?}"/* "${wheels:?}"/*
  from_debian > build/python-debian.txt 2>&1 || {
    tail -n 20 build/python-debian.txt
    exit 1
  }
}
echo "${wanted[*]}" > "$packages/.complete"
ls -d "$packages"/*.dist-info "$packages"/*.egg-info 2> /dev/null | sed 's|.*/||; s|\.[a-z]*-info$||'
