#!/usr/bin/env python3
"""cpython.py PYTHON WHEEL: runs CPython's own tests with spanprof from WHEEL, which
profiles every process that the tests start at 1 kHz. A test that passes without
spanprof must pass with it.

By default, a few quick files of tests are run. SPANPROF_RUNTIME_TESTS=all runs all
files that have to do with threads, forks, signals, coroutines, imports or exits (20
minutes), and SPANPROF_RUNTIME_TESTS="test_io test_gc" runs these two files. The exit
status is 77 if PYTHON is installed without CPython's tests.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

FEW = """test_fork1 test_threadsignals test_thread test_threading_local test_context test_generators
    test_coroutines test_repl test_wait3 test_wait4 test_queue test_sched test_timeout test_atexit test_gc test_poll""".split()
ALL = FEW + """test_threading test_threadedtempfile test_threaded_import test_signal test_eintr test_faulthandler
    test_asyncio test_asyncgen test_async_for test_contextlib test_contextlib_async test_concurrent_futures test_subprocess
    test_multiprocessing_fork test_multiprocessing_forkserver test_multiprocessing_spawn
    test_multiprocessing_main_handling test_capi test_embed test_interpreters test__xxsubinterpreters test__interpreters
    test_import test_importlib test_runpy test_site test_zipimport test_pkgutil test_reimport
    test_logging test_posix test_os test_pty test_popen test_pipes test_select test_selectors test_epoll
    test_socketserver test_ssl test_asyncore test_asynchat test_http_cookies test_httpservers test_httplib
    test_urllib2_localnet test_xmlrpc test_ftplib test_smtplib test_imaplib test_poplib test_wsgiref
    test_sys test_sys_setprofile test_sys_settrace test_trace test_monitoring test_bdb test_pdb test_profile test_cprofile
    test_tracemalloc test_frame test_code test_codeop test_exceptions test_exception_group test_traceback
    test_inspect test_dis test_yield_from test_weakref test_weakset test_super test_descr test_dynamic
    test_finalization test_io test_bufio test_file test_fileio test_mmap test_memoryio test_tempfile test_shutil
    test_zlib test_gzip test_bz2 test_lzma test_hashlib test_sqlite3 test_pickle test_json test_re test_regrtest
    test_ctypes test_userdict test_venv test_warnings test_cmd_line test_cmd_line_script test_repl test_main
    test_perf_profiler test_free_threading test_stable_abi_ctypes test_peg_generator test_unittest test_doctest
    test_resource test_time test_random test_decimal test_queue test_signal""".split()
# Tests that fail because of known effects of spanprof. One traces all code that
# an import runs, and so sees spanprof's import hook. Two count file descriptors or use
# certain numbers of them, and spanprof has some files open for a short time. One counts
# the objects that all threads created since a collection, and a thread of spanprof creates
# some when it reads the names of C functions.
EXPECTED_FAILURES = ["test_coverage_ignore", "test_child_fd_inflation", "test_pass_fds", "test_get_count"]
ONE_SECONDS = 900


def environment(folder):
    """This program's environment, with options that write profiles to a folder."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PYROSCOPE_", "OTEL_", "SPANPROF_", "PYTHON"))}
    return kept | {"PYROSCOPE_APPLICATION_NAME": "cpython", "PYROSCOPE_SAMPLE_RATE": "1000",
                   "PYROSCOPE_LOG_LEVEL": "off", "PYROSCOPE_OUTPUT_DIRECTORY": str(folder)}


def passes(python, name, folder, profiled):
    """Run a file of tests. Return whether it passes or has no test for this machine,
    and its output."""
    head = [python, "-m", "spanprof"] if profiled else [python]
    ignored = [argument for expected in EXPECTED_FAILURES for argument in ("-i", expected)]
    with tempfile.TemporaryDirectory() as work:
        try:
            done = subprocess.run([*head, "-m", "test", "-v", "--timeout", "300", *ignored, name], cwd=work, text=True,
                                  env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, timeout=ONE_SECONDS, errors="replace")
        except subprocess.TimeoutExpired as expired:
            return False, f"{expired.output}\n{name} did not end within {ONE_SECONDS} s"
    # Status 4: the file has no test for this system. CPython before 3.12 exits with 0.
    return done.returncode in (0, 4), done.stdout


def judge(python, name, folder):
    """Run a file of tests with spanprof and, if a test fails, without spanprof. Return the
    result as text, and whether the file fails only with spanprof."""
    good, said = passes(python, name, folder, True)
    if good:
        return "ok", False
    alone, _ = passes(python, name, folder, False)
    if not alone:
        return "fails without spanprof too", False
    print(said[-6000:])
    return "FAILED, and passes without spanprof", True


def main():
    base, wheel = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as work:
        python = pathlib.Path(work, "python", "bin", "python")
        subprocess.run([base, "-m", "venv", "--without-pip", python.parents[1]], check=True)
        site = next(python.parents[1].glob("lib/python3*/site-packages"))
        subprocess.run([base, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", site, wheel],
                       check=True)
        found = subprocess.run([python, "-c", "import test, os; print(*(n[:-3] if n.endswith('.py') else n "
                                "for n in os.listdir(test.__path__[0]) if n.startswith('test_')))"],
                               capture_output=True, text=True)
        there = set(found.stdout.split()) - {"test_support"}
        if not there:
            print(f"{base} is installed without CPython's own tests")
            return 77
        wanted = os.environ.get("SPANPROF_RUNTIME_TESTS", "")
        names = ALL if wanted == "all" else wanted.split() or FEW
        failed = 0
        folder = pathlib.Path(work, "profiles")
        for name in dict.fromkeys(names):
            if name in there:
                word, ours = judge(python, name, folder)
                failed += ours
                print(f"{name} ... {word}", flush=True)
        written = list(folder.glob("*.pb.gz")) if folder.exists() else []
        print(f"{len(written)} profiles")
        return 1 if failed or not written else 0


if __name__ == "__main__":
    sys.exit(main())
