# shellcheck shell=bash
# Sourced by stage.sh: README's two commands, short, in a Debian 12 that has
# nothing but apt: as root where a package index of Python is in reach, and as a
# user with sudo where none is. With SPANPROF_BARE_ALL=1 also the other way round.

# The checks of tests/run there: those that install, and what the user, the
# index or the newness of the machine can change. The rest knows none of them, and
# web servers are in examples/run.
# The gems that tests use come as the user, who may not write everywhere.
bare_stages=(ruby python)
bare_checks='^(ruby|python)-(gem|sdist|.*-(install|locked_down))$|^python-.*-test_(autostart|exec|walker.*)$'
bare_checks_user='^ruby-.*-(gems|test_(autostart|rails|walker.*))$'

# bare_base: what debootstrap makes; kept.
bare_base() {
  local base=build/suite/bookworm

  [ ! -e "$base.complete" ] || return 0
  mkdir -p build/suite
  packages_as_root rm -rf "$base"
  packages_as_root debootstrap --variant=minbase bookworm "$base"
  # Copies of it are thrown away: nothing has to reach the disk.
  echo force-unsafe-io | packages_as_root tee "$base/etc/dpkg/dpkg.cfg.d/unsafe-io"
  touch "$base.complete"
}

# bare_run NAME USER COMMAND...: in the folder build/suite/NAME, in the user's
# home. What apt loads is kept. Processes that are left over end with it.
bare_run() {
  local name=$1 user=$2 home=/root
  shift 2

  [ "$user" = root ] || home=/home/$user
  packages_as_root unshare --mount --pid --fork --kill-child bash -euc '
    root=$PWD/build/suite/$1 debs=$PWD/build/suite/$1-debs user=$2 home=$3
    shift 3
    mkdir -p "$debs/partial"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount --bind "$debs" "$root/var/cache/apt/archives"
    exec chroot --userspec="$user:$user" "$root" env -i LANG=C.UTF-8 HOME="$home" \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euc "cd; \"\$@\"" bash "$@"
  ' bash "$name" "$user" "$home" "$@"
}

# bare_root NAME USER: the folder, made anew, with the checkout in the user's
# home. Certificates that this machine trusts beside Debian's are trusted there
# too, once ca-certificates is installed.
bare_root() {
  local name=$1 user=$2 root=build/suite/$1 ours=/usr/local/share/ca-certificates home=root

  packages_as_root rm -rf "$root"
  packages_as_root cp -a build/suite/bookworm "$root"
  [ ! -d "$ours" ] || packages_as_root cp -rT "$ours" "$root$ours"
  if [ "$user" != root ]; then
    home=home/$user
    bare_run "$name" root bash -euxc '
      apt-get -qq update
      DEBIAN_FRONTEND=noninteractive apt-get -qqy --no-install-recommends install sudo
      useradd -m -s /bin/bash "$1"
      echo "$1 ALL=(ALL) NOPASSWD: ALL" > "/etc/sudoers.d/$1"
    ' bash "$user"
  fi
  checkout_copy "$root/$home/spanprof"
  bare_run "$name" root chown -R "$user:$user" "/$home/spanprof"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# bare_command NAME USER INDEX COMMAND...: one of the two, short.
bare_command() {
  local checks=$bare_checks

  [ "$2" = root ] || checks+="|$bare_checks_user"
  bare_run "$1" "$2" timeout -k 5 3600 env PIP_INDEX_URL="$3" PORT="$(free_port)" \
    SPANPROF_AT_ONCE=1 SPANPROF_EXAMPLE_SECONDS=3 SPANPROF_STRESS_SECONDS=1 SPANPROF_FUZZ_SECONDS=1 \
    SPANPROF_CHECKS="$checks" bash -euc 'cd spanprof; "$@"' bash "${@:4}"
}

# bare_folder USER WITH INDEX FIRST: both commands in a folder of their own, the
# FIRST one where nothing was installed yet.
bare_folder() {
  local user=$1 name=bare-$1-$2 index=$3 command # timeout(1) is in bare_command

  check "$name" 0 bare_root "$name" "$user"
  for command in $4; do
    if [ "$command" = examples ]; then
      check "$name-examples" 0 bare_command "$name" "$user" "$index" examples/run
    else
      check "$name-tests" 0 bare_command "$name" "$user" "$index" tests/run "${bare_stages[@]}"
    fi
  done
  packages_as_root rm -rf "build/suite/$name"
}

stage_bare() {
  local index nowhere

  check bare-debian 0 bare_base
  check bare-index 900 tests/python_packages.sh --debs
  [ ! -s "$failures" ] || return 1
  coproc server { exec tests/package/python_index.py build/python-debs build/python-index 2> build/log/bare-server.txt; }
  # shellcheck disable=SC2154 # coproc sets it
  trap 'rm -f "$failures"; kill "$server_PID"' EXIT
  read -r -t 60 index <&"${server[0]}"
  nowhere=http://127.0.0.1:$(free_port)/simple
  lane bare_folder root index "$index" "examples tests"
  lane bare_folder user none "$nowhere" "tests examples"
  lanes_end
  if [ "${SPANPROF_BARE_ALL:-}" = 1 ]; then
    lane bare_folder root none "$nowhere" "tests examples"
    lane bare_folder user index "$index" "examples tests"
    lanes_end
  fi
}
