"""Functions that the stages of Ruby and Python share: they find interpreters, compile a binding
with strict warnings, check the rules of the signal handler, and measure costs."""
import glob
import os
import re
import shutil
import subprocess

from stage import BUILD, ROOT, Failure

# Include options for the folders of the core and of SWIG that the bindings need.
INCLUDE = ["-Icore/include", "-Icore/src", "-Icore", "-Iswig", "-Iswig/lang", "-Ibindings/common"]


def ask(interpreter, *arguments):
    """Return the output of an interpreter, or None if it fails or does not exist."""
    try:
        done = subprocess.run([interpreter, *arguments], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def interpreters(candidates, *version_program):
    """Return pairs of path and version: the first of `candidates` for each minor version, in their
    order."""
    found = {}
    for path in candidates:
        version = path and ask(path, *version_program)
        if version:
            found.setdefault(version, path)
    return [(path, version) for version, path in found.items()]


def rubies():
    """Return the Ruby interpreters of this machine. The interpreter on PATH comes first, and those
    in SPANPROF_RUBIES come next."""
    paths = [shutil.which("ruby"), *os.environ.get("SPANPROF_RUBIES", "").split(":"), *sorted(glob.glob("/usr/bin/ruby3.?")),
             *sorted(glob.glob(os.path.expanduser("~/.rbenv/versions/*/bin/ruby")))]
    return interpreters(paths, "-e", 'print RUBY_VERSION[/\\d+\\.\\d+/]')


def pythons():
    """Return the CPython interpreters from 3.10 on of this machine. Debian's interpreter comes
    first."""
    paths = ["/usr/bin/python3", shutil.which("python3"),
             *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))), *sorted(glob.glob("/usr/bin/python3.??"))]
    return interpreters(paths, "-c", "import sys; assert sys.version_info >= (3, 10); print('%d.%d' % sys.version_info[:2])")


def ruby_headers():
    return (ask("ruby", "-rrbconfig", "-e", 'puts RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir")') or "").split()


def python_headers():
    return [ask("/usr/bin/python3", "-c", "import sysconfig; print(sysconfig.get_path('include'))")]


def strict(sh, language, headers, *swig):
    """Compile a binding with gcc and clang and with warnings as errors."""
    made = BUILD / "strict" / language
    made.mkdir(parents=True, exist_ok=True)
    sh("protoc-c", "--proto_path=core/proto", f"--c_out={made}", "profile.proto", "push.proto", cwd=ROOT)
    sh("swig", f"-{language}", "-Wall", "-Werror", *swig, "-o", made / "swig.c", "swig/spanprof.i", cwd=ROOT)
    options = ["-fsyntax-only", "-fPIC", "-O1", "-std=gnu11", "-D_GNU_SOURCE", "-DSPANPROF_STATIC", "-Wall", "-Wextra",
               "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"]
    for header in headers:
        options += ["-isystem", header]
    options += INCLUDE + [f"-Ibindings/{language}", "-isystem", str(made)]
    files = sorted((ROOT / "bindings/common").glob("*.c")) + sorted((ROOT / "bindings" / language).rglob("*.c"))
    files += [made / "swig.c", "core/src/spanprof_unity.c", "core/command/command_unity.c"]
    failed = [f"{compiler} {file}" for compiler in ("gcc", "clang") for file in files
              if sh.try_program(compiler, *options, file, cwd=ROOT) != 0]
    if failed:
        raise Failure(f"{len(failed)} files do not compile without warnings")


def handler_rules(sh, language, headers, *roots):
    """Check the rules of signal handlers for the functions of a binding that the core's handler calls."""
    marked = re.compile(r"SP_(HANDLER_(CODE|RARE)|SIGNAL_SAFE)")
    files = [path for path in sorted((ROOT / "bindings" / language).rglob("*.c")) if marked.search(path.read_text())]
    # The handler's functions in the bindings call functions of this file of the core.
    files.append(ROOT / "core/src/util/system/clock.c")
    compile_with = ["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-DSPANPROF_STATIC", "-fPIC"]
    for header in headers:
        compile_with += ["-isystem", header]
    compile_with += ["-Icore/include", "-Icore/src", "-Ibindings/common", f"-Ibindings/{language}"]
    sh("tests/rules/signal_safety.py", *roots, "--", *compile_with, *files, cwd=ROOT)


def cost(sh, language, version, *program):
    """Measure the costs of a binding in instructions, because their number does not depend on the
    load of the machine."""
    marks = BUILD / f"cost-{language}-{version}.so"
    sh("gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", marks, "tests/cost/binding/marks.c", cwd=ROOT)
    sh("tests/cost/binding/check_binding_cost.py", language, version, marks, *program, cwd=ROOT)
