"""The stages of tests/run, and the checks of which each stage consists.

A stage is a function with the decorator `stage`. It receives a Run, with which it builds presets and
makes checks. Stages run at the same time, each in a thread. Within a stage, `lanes` runs checks in
two threads. A check is a program, or a function that runs several programs."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shlex
import threading
import time

from execute import execute
from report import SKIP_STATUS, judge, read_ctest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
LOG = BUILD / "log"
LANES = 2
FAILURE_LINES = 80
SUMMARY_LINES = 30

STAGES = {}


class Stage:
    """A stage: its one-line description, the Debian packages that it needs, and its CPU time in
    seconds, as measured on one machine."""

    def __init__(self, function, name, about, packages, cpu_seconds, by_name):
        self.function = function
        self.name = name
        self.about = about
        self.packages = packages.split()
        self.cpu_seconds = cpu_seconds
        self.by_name = by_name


def stage(name, about, packages="", cpu_seconds=0, by_name=False):
    """Register a function as a stage. A stage with `by_name` runs only if it is named on the command line."""
    def register(function):
        STAGES[name] = Stage(function, name, about, packages, cpu_seconds, by_name)
        return function
    return register


def setting(name, default):
    """Return the value of an environment variable of tests/run as a number."""
    return int(os.environ.get(name) or default)


STRESS_SECONDS = setting("SPANPROF_STRESS_SECONDS", 3)
FUZZ_SECONDS = setting("SPANPROF_FUZZ_SECONDS", 3)
# Whether to run every test with every interpreter. By default the first interpreter runs all tests,
# and each other interpreter runs the tests that depend on its version.
EVERY_TEST = os.environ.get("SPANPROF_EVERY_TEST") == "1"
# Whether to run only the tests that depend on the version of the interpreter, with every
# interpreter.
VERSION_TESTS = os.environ.get("SPANPROF_VERSION_TESTS") == "1"
CHECKS = re.compile(os.environ.get("SPANPROF_CHECKS", ""))


def base_environment():
    """Return the environment of every check. It has no variables that configure profiling or a
    proxy, because only the test itself may do so."""
    proxies = {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file"}
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PYROSCOPE_", "OTEL_")) and name.lower() not in proxies}
    return {"HOME": "/tmp"} | kept | {"SPANPROF_STRESS_SECONDS": str(STRESS_SECONDS)}


class Failure(Exception):
    """A check failed; the message says why."""


class Skip(Exception):
    """A check is skipped, because one of its programs cannot run on this machine."""


class Shell:
    """Runs the programs of one check. Their output goes to the log of the check."""

    def __init__(self, run, output, seconds, env):
        self.run, self.output, self.seconds, self.env = run, output, seconds, env

    def try_program(self, *command, env=None, cwd=None):
        """Run a program and return its exit status."""
        self.output.flush()
        result = execute(command, self.output, self.seconds, self.env | (env or {}), cwd)
        self.run.add_cpu(result.cpu_seconds)
        return result.status

    def __call__(self, *command, env=None, cwd=None):
        """Run a program. Raises Failure unless it succeeds, and Skip if its exit status says so."""
        status = self.try_program(*command, env=env, cwd=cwd)
        if status == SKIP_STATUS:
            raise Skip
        if status != 0:
            raise Failure(f"{shlex.join(str(word) for word in command)[:200]} failed with status {status}")

    def print(self, text):
        self.output.write(f"{text}\n".encode())


class Check:
    """The result of one check or of one test of ctest."""

    def __init__(self, name, error="", skipped=(), ran=True, output=""):
        self.name, self.error, self.skipped, self.ran, self.output = name, error, list(skipped), ran, output


class Run:
    """One run of a stage: its output, its checks and its CPU time. Any thread may call its methods.
    """

    _build_locks = {}
    _lock = threading.Lock()

    def __init__(self, name, prefix):
        self.name = name
        self.prefix = prefix
        self.checks = []
        self.cpu_seconds = 0.0
        self.log = open(LOG / f"{name}.txt", "w")
        self.env = base_environment()

    def print(self, text):
        with Run._lock:
            for line in text.splitlines():
                print(self.prefix + line, flush=True)
                self.log.write(line + "\n")
            self.log.flush()

    @contextlib.contextmanager
    def printer(self):
        """Provide a file for the output of programs. Each line that they write is printed as soon
        as it is complete."""
        reading, writing = os.pipe()

        def forward():
            with open(reading, errors="replace") as lines:
                for line in lines:
                    self.print(line)

        thread = threading.Thread(target=forward)
        thread.start()
        try:
            with open(writing, "wb") as output:
                yield output
        finally:
            thread.join()

    def add_cpu(self, seconds):
        with Run._lock:
            self.cpu_seconds += seconds

    @property
    def failed(self):
        return any(check.error for check in self.checks)

    def add(self, check):
        with Run._lock:
            self.checks.append(check)

    def check(self, name, *command, seconds=None, env=None, needs_all=False):
        """Perform a check: run a program, or call a function with a Shell and the other arguments.

        Prints one line with the result. Returns whether the check passed."""
        if not CHECKS.search(name):
            return True
        path, start, status, error = LOG / f"{name}.txt", time.monotonic(), 0, ""
        with open(path, "wb") as output:
            shell = Shell(self, output, seconds, self.env | (env or {}))
            try:
                if callable(command[0]):
                    command[0](shell, *command[1:])
                else:
                    status = shell.try_program(*command)
            except Failure as failure:
                error = str(failure)
            except Skip:
                status = SKIP_STATUS
        text = path.read_text(errors="replace")
        judged, ran, skipped, summary = judge(status, text, needs_all)
        error = error or judged
        took = f"{time.monotonic() - start:.0f} s"
        tail = "\n".join(text.splitlines()[-FAILURE_LINES:])
        self.add(Check(name, error, [f"{name}: {reason}" for reason in skipped], ran, tail))
        if error:
            self.print(f"{tail}\nCHECK failed {name} ({took}, {error}) {summary}")
        else:
            if ran:
                self.print(f"CHECK passed {name} ({took}) {summary}")
            for reason in skipped:
                self.print(f"SKIP {name}: {reason}")
        return not error

    def skip(self, name, reason):
        self.add(Check(name, skipped=[f"{name}: {reason}"], ran=False))
        self.print(f"SKIP {name}: {reason}")

    def include(self, name, function, results, *arguments):
        """Call a function that runs tests/run in another system, and add the checks of that run.
        The other tests/run writes them to the file `results`."""
        results.unlink(missing_ok=True)
        passed = self.check(name, function, *arguments)
        if results.exists():
            for values in json.loads(results.read_text()):
                self.add(Check(**values))
        elif passed:
            self.add(Check(f"{name}-results", f"{results} is missing"))

    def lanes(self, calls):
        """Call all functions, in this order, in LANES threads, and wait for their end."""
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            for future in [pool.submit(call) for call in calls]:
                future.result()

    def must(self, name, function, *arguments):
        """Run a function that prepares the stage. If it fails, prints its log and raises Failure.
        """
        path = LOG / f"{name}.txt"
        with open(path, "wb") as output:
            try:
                function(Shell(self, output, None, self.env), *arguments)
            except Failure:
                self.print("\n".join(path.read_text(errors="replace").splitlines()[-FAILURE_LINES:]))
                raise

    def build(self, preset, *targets):
        """Configure and build a CMake preset. Stages that use the same preset build it one after
        the other."""
        with Run._lock:
            lock = Run._build_locks.setdefault(preset, threading.Lock())
        with lock:
            self.must(f"{self.name}-build-{preset}", build_preset, preset, targets)

    def ctest(self, preset, *options, label=""):
        """Run the tests of a preset with ctest, or only the tests with a label. Each test becomes a
        separate check."""
        name = f"{self.name}-ctest{label and '-' + label}"
        # The ctest preset excludes the tests with the labels of stress programs and benchmarks, so
        # a label needs a call without the preset.
        which = ["--test-dir", BUILD / preset, "-L", label] if label else ["--preset", preset]
        report = LOG / f"{name}.xml"
        report.unlink(missing_ok=True)
        with self.printer() as output:
            status = Shell(self, output, None, self.env).try_program(
                "ctest", *which, "--no-tests=error", "--output-on-failure",
                "--output-junit", report, "--test-output-size-passed", 1_000_000, *options, cwd=ROOT)
        if not report.exists():
            self.add(Check(name, f"ctest failed with status {status}"))
            return
        tests = [Check(f"{self.name}-{test}", **values) for test, values in read_ctest(report)]
        for test in tests:
            self.add(test)
        if status != 0 and not any(test.error for test in tests):
            self.add(Check(name, f"ctest failed with status {status}"))


def build_preset(sh, preset, targets):
    if preset == "dev":
        page = ""  # A build of this preset also builds the page, as a build of a user does.
    else:
        page = BUILD / "page/page.html"
        build_page(sh)
    sh("cmake", "--preset", preset, "-DSPANPROF_WERROR=ON", f"-DSPANPROF_PAGE_FILE={page}", cwd=ROOT)
    sh("cmake", "--build", "--preset", preset, *(["--target", *targets] if targets else []), "--", "--quiet", cwd=ROOT)


_page_lock = threading.Lock()


def build_page(sh):
    """Build build/page/page.html once for all presets."""
    (BUILD / "page").mkdir(parents=True, exist_ok=True)
    with _page_lock:
        sh("sh", "-c", 'exec cmake -DNPM="$(command -v npm)" -DNODE="$(command -v node || command -v nodejs)" "$@"', "sh",
           f"-DSOURCES={ROOT}/core/page", f"-DWORK={BUILD}/page/npm", f"-DPAGE={BUILD}/page/page.html",
           "-P", ROOT / "core/page/build_page.cmake", cwd=ROOT)
