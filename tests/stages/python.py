"""The stage of the Python package. It builds the sdist and installs it in the same way as users do,
and tests the installed package, with each CPython."""
import functools
import shutil

import binding
from stage import BUILD, EVERY_TEST, ROOT, STRESS_SECONDS, VERSION_TESTS, stage

# Tests that depend on the version of CPython: its memory layouts, its hooks, its ways to start and to end,
# and which thread, task or context uses the CPU.
VERSION_TEST_NAMES = """allocators asyncio c_functions context_reader eval_ranges executors exit finalize fork frames greenlets
    lazy lines multiprocessing native_frames profile span_context subinterpreters threads walker_memory walker_refusal""".split()
VERSION_STRESS_NAMES = """callbacks contextvars_loop deep_recursion exec_churn gc_cycles generators greenlets storm
    thread_churn""".split()
TEST_SECONDS = 300


def sdist(sh):
    shutil.rmtree(BUILD / "sdist", ignore_errors=True)
    sh("python3", "-c", 'import sys; sys.path.insert(0, "_build"); import backend; backend.build_sdist("../build/sdist")',
       cwd=ROOT / "python", env={"PYTHONPATH": str(BUILD / "python-setuptools")})


def install(sh, python, version):
    """Make the environment build/python-VERSION with the wheel that pip builds from the sdist.

    The environment also sees the packages of Debian and OpenTelemetry.
    """
    environment, wheels = BUILD / f"python-{version}", BUILD / "wheels" / version
    shutil.rmtree(environment, ignore_errors=True)
    shutil.rmtree(wheels, ignore_errors=True)
    sh(python, "-m", "venv", "--without-pip", "--system-site-packages", environment)
    [site] = environment.glob("lib/python*/site-packages")
    (site / "tests.pth").write_text(f"{BUILD}/python-packages/{version}\n")
    env = {"PYTHONPATH": str(BUILD / "python-setuptools"), "CPPFLAGS": "-DSPANPROF_TEST_VARIABLES", "SPANPROF_REQUIRED": "1"}
    [archive] = (BUILD / "sdist").glob("*.tar.gz")
    sh(python, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", wheels, archive, env=env)
    sh(environment / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--ignore-installed", *wheels.glob("*.whl"),
       env=env)


def own_tests(sh, python, version):
    """Run tests of the interpreter itself while it is profiled."""
    sh("tests/runtimes/cpython.py", python, *(BUILD / "wheels" / version).glob("*.whl"), cwd=ROOT)


class Version:
    """The checks with one CPython."""

    def __init__(self, run, python, version, every_test):
        self.run, self.python, self.version, self.every_test = run, python, version, every_test
        # With interpreters other than the first one, a stress program runs for half of the time.
        self.stress_seconds = STRESS_SECONDS if every_test else (STRESS_SECONDS + 1) // 2
        # Tests write programs that import helper modules from the folder of the tests.
        self.env = {"PYTHONPATH": str(ROOT / "tests/python"), "SPANPROF_STRESS_SECONDS": str(self.stress_seconds)}
        self.installed = BUILD / f"python-{version}/bin/python"

    def check(self, name, *command, seconds=None):
        # Debian has packages of Python libraries only for its own CPython. With any other CPython,
        # a test may skip because a package is missing.
        return self.run.check(f"python-{self.version}-{name}", *command, seconds=seconds, env=self.env,
                              needs_all=str(self.python) == "/usr/bin/python3" and not VERSION_TESTS)

    def tests(self):
        for path in sorted((ROOT / "tests/python").glob("test_*.py")):
            if self.every_test or path.stem.removeprefix("test_") in VERSION_TEST_NAMES:
                yield functools.partial(self.check, path.stem, self.installed, "-W", "error::SyntaxWarning", path, "-v",
                                        seconds=TEST_SECONDS)

    def stress(self):
        for path in sorted((ROOT / "tests/stress/python").glob("*.py")):
            if path.stem != "stress" and (self.every_test or path.stem in VERSION_STRESS_NAMES):
                yield functools.partial(self.check, f"stress-{path.stem}", self.installed, path,
                                        seconds=self.stress_seconds * 3 + 60)

    def package(self):
        yield functools.partial(self.check, "cost", binding.cost, "python", self.version, self.installed,
                                "tests/cost/binding/cost.py", seconds=300)
        yield functools.partial(self.check, "own_tests", own_tests, self.python, self.version, seconds=7200)

    def all(self):
        self.check("install", install, self.python, self.version, seconds=240)
        for call in [*self.tests(), *self.stress(), *self.package()]:
            call()


PACKAGES = """swig python3-dev python3-venv python3-pip python3-setuptools python3-wheel python3-greenlet
    python3-gevent python3-numpy"""
# Web servers and frameworks. Only tests that do not depend on the version of CPython need them.
if not VERSION_TESTS:
    PACKAGES += """ python3-uvloop python3-flask gunicorn python3-uvicorn uvicorn celery python3-celery
        python3-joblib python3-multiprocess uwsgi-core uwsgi-plugin-python3 uwsgi-plugin-gevent-python3 python3-django
        python3-fastapi libapache2-mod-wsgi-py3 ipython3 mypy"""


@stage("python", "the package, installed and tested on every CPython found", PACKAGES, 1000)
def python_stage(run):
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PIP_REQUIRE_VIRTUALENV"):
        run.env.pop(name, None)
    pythons = binding.pythons()
    headers = binding.python_headers()
    run.must("python-packages", lambda sh: sh(ROOT / "tests/python_packages.sh", *(path for path, _ in pythons)))
    run.check("python-strict", binding.strict, "python", headers, "-interface", "_swig", "-outdir", "build/strict/python",
              seconds=120)
    run.check("python-rules", binding.handler_rules, "python", headers, "runtime_walk", "runtime_read_context", seconds=60)
    run.check("python-sdist", sdist, seconds=60)
    calls = [Version(run, python, version, EVERY_TEST or (number == 0 and not VERSION_TESTS)).all
             for number, (python, version) in enumerate(pythons)]
    if VERSION_TESTS:
        run.lanes(calls)
        return
    # wheel_install.sh is the longest check and does not need a built wheel, so it runs at the same
    # time as the checks of the first version. The other checks of the package need the wheels, so
    # they run last.
    wheel_install = ROOT / "tests/package/wheel_install.sh"
    run.lanes([functools.partial(run.check, "python-wheel_install", wheel_install, seconds=900), *calls])
    others = sorted(path for path in (ROOT / "tests/package").glob("wheel_*") if path != wheel_install)
    run.lanes(functools.partial(run.check, f"python-{path.stem}", path, seconds=900) for path in others)
