# shellcheck shell=bash
# Sourced by stage.sh: stages once more in a newer Debian that is made for them
# under build/suite/. They bring other Rubies and CPythons, and compilers and
# SWIG of another age.
source tests/packages.sh

# checkout_copy FOLDER: the checkout, without what was made in it.
checkout_copy() {
  # 1: files came or went meanwhile, those of the stage that runs beside this one.
  { tar -c --exclude=./build --exclude=./.git --exclude=vendor --exclude=node_modules --exclude=__pycache__ --exclude='*.egg-info' . || [ $? -eq 1 ]; } |
    packages_as_root tar -x --one-top-level="$1" --no-same-owner
}

# suite_run SUITE COMMAND...: in there, in /srv/spanprof, with a build/ that is
# kept. The mounts are in a namespace that ends with the command.
suite_run() {
  packages_as_root unshare --mount bash -euc '
    root=$PWD/build/suite/$1
    shift
    mkdir -p "$root"/srv/{spanprof/build,build}
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount --bind "$root/srv/build" "$root/srv/spanprof/build"
    exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 \
      PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
      SPANPROF_STRESS_SECONDS="$SPANPROF_STRESS_SECONDS" \
      bash -euc "cd /srv/spanprof; \"\$@\"" bash "$@"
  ' bash "$@"
}

# suite_root SUITE FROM PACKAGE...: the Debian itself, with packages that the
# stages do not ask for, out of the suite FROM. Certificates that this machine
# trusts beside Debian's are trusted there too.
suite_root() {
  local suite=$1 root=build/suite/$1 ours=/usr/local/share/ca-certificates

  shift
  packages_as_root rm -rf "$root"
  mkdir -p build/suite
  packages_as_root debootstrap --variant=minbase --include=ca-certificates,procps "$suite" "$root"
  [ ! -d "$ours" ] || packages_as_root cp -r "$ours/." "$root$ours/"
  suite_run "$suite" bash -euxc '
    update-ca-certificates
    echo "deb http://deb.debian.org/debian $1 main" > "/etc/apt/sources.list.d/$1.list"
    echo "Acquire::Check-Valid-Until \"false\";" > /etc/apt/apt.conf.d/old-lists
    apt-get -q update
    apt-get -qy --no-install-recommends install -t "$@"
    touch /srv/complete
  ' bash "$@"
}

# suite_stages SUITE FROM "PACKAGE..." STAGE...: made once, run every time, in a
# copy: a stage fills folders of its checkout, and another may run beside it.
suite_stages() {
  local suite=$1 from=$2 packages=$3 copy=build/suite/$1/srv/spanprof
  shift 3

  if [ ! -e "build/suite/$suite/srv/complete" ]; then
    # shellcheck disable=SC2086
    check "$suite-packages" 1200 suite_root "$suite" "$from" $packages
    [ ! -s "$failures" ] || return 1
  fi
  packages_as_root rm -rf "$copy"
  checkout_copy "$copy"
  suite_run "$suite" tests/run "$@"
}

# Ruby 3.3, Ruby 3.4 out of experimental, JRuby, CPython 3.13.
stage_trixie() {
  suite_stages trixie experimental "ruby3.4 ruby3.4-dev jruby" ruby python
}

# CPython 3.14 and, compiled parts of packages missing, 3.15.
stage_sid() {
  suite_stages sid sid "python3.15 python3.15-dev" python
}
