# shellcheck shell=bash
# Sourced by stage.sh: the sdist, built and installed as users do, then tested
# as it is installed, on every CPython that is found.

# The interpreters from 3.10 on, one of each minor version, Debian's first.
python_all() {
  local python version seen=" "

  for python in /usr/bin/python3 "$(command -v python3)" "$HOME"/.pyenv/versions/*/bin/python /usr/bin/python3.??; do
    version=$("$python" -c 'import sys; assert sys.version_info >= (3, 10); print("%d.%d" % sys.version_info[:2])' \
      2> /dev/null) || continue
    if [[ $seen != *" $version "* ]]; then
      seen+="$version "
      echo "$python $version"
    fi
  done
}

python_sdist() {
  rm -rf build/sdist
  (cd python && PYTHONPATH=$PWD/../build/python-setuptools python3 -c \
    'import sys; sys.path.insert(0, "_build"); import backend; backend.build_sdist("../build/sdist")')
}

# python_install PYTHON VERSION: an environment build/python-VERSION with the
# wheel made from the sdist, with Debian's packages and OpenTelemetry in sight.
python_install() {
  local environment=$PWD/build/python-$2 site

  rm -rf "$environment" "build/wheels/$2"
  "$1" -m venv --without-pip --system-site-packages "$environment"
  site=$(echo "$environment"/lib/python*/site-packages)
  echo "$PWD/build/python-packages/$2" > "$site/tests.pth"
  CPPFLAGS=-DSPANPROF_TEST_VARIABLES SPANPROF_REQUIRED=1 PYTHONPATH=$PWD/build/python-setuptools "$1" -m pip wheel -q \
    --no-build-isolation --no-deps -w "build/wheels/$2" build/sdist/*.tar.gz
  "$environment/bin/python" -m pip install -q --no-deps --ignore-installed "build/wheels/$2"/*.whl
}

python_version() {
  local version=$2 python=$PWD/build/python-$2/bin/python path needs_all
  # Debian's packages of Python are for its own CPython only.
  [ "$1" != /usr/bin/python3 ] || needs_all=1

  check "python-$version-install" 240 python_install "$1" "$version"
  # Programs that tests write import the helpers beside them.
  export PYTHONPATH=$PWD/tests/python
  for path in tests/python/test_*.py; do
    check "python-$version-$(basename "$path" .py)" 300 "$python" -W error::SyntaxWarning "$path" -v
  done
  check "python-$version-cost" 300 binding_cost python "$version" "$python" tests/cost/binding/cost.py
  # Between the oldest and the newest two share a layout of frames, and the time.
  python_all | cut -d ' ' -f 2 | sort -V | sed -n '1p; $p' | grep -x "$version" > /dev/null ||
    SPANPROF_STRESS_SECONDS=$(((SPANPROF_STRESS_SECONDS + 1) / 2))
  for path in tests/stress/python/*.py; do
    [ "${path##*/}" != stress.py ] || continue # what the others share
    check "python-$version-stress-$(basename "$path" .py)" $((SPANPROF_STRESS_SECONDS * 3 + 60)) "$python" "$path"
  done
  check "python-$version-own_tests" 7200 tests/runtimes/cpython.py "$1" "build/wheels/$version"/*.whl
}

stage_python() {
  local python version path headers
  unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PIP_REQUIRE_VIRTUALENV

  python_all | cut -d ' ' -f 1 | xargs tests/python_packages.sh
  headers=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
  check python-strict 120 strict_binding python "$headers"
  check python-rules 60 rules_binding python "$headers" runtime_walk runtime_read_context
  check python-sdist 60 python_sdist
  # The longest of all that needs no wheel, beside the first version.
  lane check python-wheel_install 900 tests/package/wheel_install.sh
  while read -r python version; do
    lane python_version "$python" "$version"
  done < <(python_all)
  lanes_end
  for path in tests/package/wheel_*; do
    [ "$path" != tests/package/wheel_install.sh ] || continue
    lane check "python-$(basename "${path%.*}")" 900 "$path"
  done
  lanes_end
}
