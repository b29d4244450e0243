#!/usr/bin/env bash
# wheel_editable.sh: checks that a package that `pip install -e` installed from
# a checkout profiles a program that SPANPROF_AUTOSTART or `spanprof exec`
# starts, and that `pip uninstall` leaves no files.
source "$(dirname "$0")/common.sh"
environment=$work/environment
site() { "$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

mkdir "$work/checkout" "$work/profiles"
cp -r bindings core python swig LICENSE "$work/checkout"
rm -rf "$work/checkout/core/page/node_modules"
/usr/bin/python3 -m venv --without-pip --system-site-packages "$environment"
PYTHONPATH=$top/build/python-setuptools SPANPROF_REQUIRED=1 CFLAGS=-O0 PIP_ROOT_USER_ACTION=ignore \
  "$environment/bin/python" -m pip install -q --no-build-isolation --no-deps -e "$work/checkout/python"
[ -e "$(site)/spanprof.pth" ] || fail "site-packages has no spanprof.pth"
[ ! -e "$(site)/spanprof" ] || fail "the package was copied: it is not editable"
cat > "$work/burn.py" << 'EOF'
import time
until = time.thread_time() + 0.6
while time.thread_time() < until:
    sum(range(500))
EOF
cd "$work" || exit
export PYROSCOPE_APPLICATION_NAME=editable PYROSCOPE_OUTPUT_DIRECTORY=$work/profiles
# profiles HOW COMMAND...: checks that the command writes a profile.
profiles() {
  "${@:2}"
  compgen -G "profiles/editable-*.pb.gz" > /dev/null || fail "$1: nothing was profiled"
  rm profiles/*
  echo "$1: profiled"
}
profiles environment env SPANPROF_AUTOSTART=1 "$environment/bin/python" burn.py
profiles exec "$environment/bin/spanprof" exec "$environment/bin/python" burn.py
"$environment/bin/python" -m pip uninstall -q -y spanprof
[ -z "$(find "$(site)" -name '*spanprof*' 2> /dev/null)" ] || fail "pip uninstall left files: $(ls "$(site)")"
echo "uninstalled"
