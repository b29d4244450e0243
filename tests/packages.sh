# shellcheck shell=bash
# Sourced by tests/run and examples/run: installs what is missing on Debian and
# its kin.

packages_as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    echo "Packages are missing, and neither root nor sudo is here to install them." >&2
    return 1
  fi
}

# packages_need NAME...: installs those that are not installed yet.
packages_need() {
  local name missing=()

  if ! command -v dpkg-query apt-get > /dev/null; then
    echo "No apt here; going on with what is installed. Needed, by Debian's names:"
    echo "  $*"
    return 0
  fi
  for name in "$@"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null)" != installed ]; then
      missing+=("$name")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All $# packages are installed."
    return 0
  fi
  echo "Installing: ${missing[*]}"
  packages_as_root apt-get -qq update
  packages_as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "${missing[@]}" > /dev/null
}

# packages_npm: the names of what brings npm, where it is not here: elsewhere than
# in Debian's package it comes with node.
packages_npm() {
  command -v npm > /dev/null || echo nodejs npm
}

# packages_give_back DIRECTORY: what sudo built belongs to who called it, but for
# whole Debians in there.
packages_give_back() {
  if [ -n "${SUDO_UID:-}" ] && [ "$(id -u)" -eq 0 ] && [ -d "$1" ]; then
    find "$1" -path "$1/suite" -prune -o -exec chown -h "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" {} +
  fi
}
