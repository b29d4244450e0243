# shellcheck shell=bash
# Functions for tests/run and examples/run, which install missing packages on Debian and its
# derivatives.

packages_as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    echo "Packages are missing. Run this as root or install sudo, so that they can be installed." >&2
    return 1
  fi
}

# packages_need NAME...: installs the packages that are not installed yet.
packages_need() {
  local name missing=()

  if ! command -v dpkg-query apt-get > /dev/null; then
    echo "There is no apt, so nothing is installed. These packages (Debian's names) are needed:"
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

# packages_npm: prints the names of Debian's packages with npm if no npm is installed. A Node.js
# that is not Debian's contains npm.
packages_npm() {
  command -v npm > /dev/null || echo nodejs npm
}

# packages_give_back DIRECTORY: after a run with sudo, gives the built files to the user who called
# sudo. Leaves out the Debian systems in DIRECTORY/suite.
packages_give_back() {
  if [ -n "${SUDO_UID:-}" ] && [ "$(id -u)" -eq 0 ] && [ -d "$1" ]; then
    find "$1" -path "$1/suite" -prune -o -exec chown -h "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" {} +
  fi
}
