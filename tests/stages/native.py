"""Stages of the C code: builds, unit tests, sanitizers, fuzzing, stress programs and benchmarks."""
import functools

from stage import BUILD, FUZZ_SECONDS, ROOT, Failure, setting, stage


@stage("dev", "gcc: unit tests, header, symbols, installation, replay of the fuzz corpus", "golang-go", 272)
def dev(run):
    run.build("dev")
    run.ctest("dev")


@stage("clang", "the unit tests built with clang", "golang-go", 143, by_name=True)
def clang(run):
    run.build("clang")
    run.ctest("clang")


@stage("unity", "the core compiled from one file, installed and used", "", 22)
def unity(run):
    run.build("unity", "spanprof", "spanprof_static", "spanprof_command", "test_struct_sizes")
    run.ctest("unity", "-R", "^(install_|abi_|unity_)")


def sanitized(run):
    """Run the unit tests, then the stress programs that are useful under a sanitizer."""
    run.build(run.name)
    run.ctest(run.name)
    run.ctest(run.name, label="quick")


@stage("asan", "AddressSanitizer and UndefinedBehaviorSanitizer", "golang-go", 375)
def asan(run):
    run.env["ASAN_OPTIONS"] = "detect_stack_use_after_return=1:strict_string_checks=1"
    run.env["UBSAN_OPTIONS"] = "print_stacktrace=1"
    sanitized(run)


@stage("tsan", "ThreadSanitizer", "golang-go", 298)
def tsan(run):
    run.env["TSAN_OPTIONS"] = "halt_on_error=1:second_deadlock_stack=1"
    sanitized(run)


def fuzz_target(sh, binary):
    """Fuzz one target. New inputs go to build/fuzz/found, crashes to build/fuzz/crashes; the corpus
    itself is not changed."""
    found = BUILD / "fuzz/found" / binary.name
    found.mkdir(parents=True, exist_ok=True)
    sh(binary, f"-max_total_time={FUZZ_SECONDS}", "-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1",
       f"-artifact_prefix={BUILD}/fuzz/crashes/{binary.name}-", found,
       ROOT / "tests/fuzz/corpus" / binary.name.removeprefix("fuzz_"))


@stage("fuzz", f"each fuzz target, {FUZZ_SECONDS} s", "libclang-rt-14-dev", 98)
def fuzz(run):
    run.env["ASAN_OPTIONS"] = "allocator_may_return_null=1"
    run.build("fuzz", "fuzz_programs")
    (BUILD / "fuzz/crashes").mkdir(exist_ok=True)
    binaries = sorted(path for path in (BUILD / "fuzz/tests/fuzz").glob("fuzz_*") if path.is_file())
    if not binaries:
        raise Failure("no fuzz target was built")
    run.lanes(functools.partial(run.check, binary.name, fuzz_target, binary) for binary in binaries)


@stage("stress", "each stress program for a few seconds", "", 142)
def stress(run):
    run.build("release", "stress_programs")
    run.ctest("release", "-j", "2", label="stress")


@stage("bench", "the benchmarks, short; only instruction counts can fail", "libgoogle-perftools-dev", 74)
def bench(run):
    run.env["SPANPROF_BENCH_QUICK"] = str(setting("SPANPROF_BENCH_QUICK", 1))
    run.build("release", "bench_programs")
    run.ctest("release", "--verbose", label="bench")
