"""The stage that checks the format of the code and runs the linters. Their configuration is in tests/lint."""
import functools
import os

from binding import python_headers, ruby_headers
from stage import BUILD, ROOT, stage

SKIPPED_FOLDERS = {"build", ".git", "vendor", "node_modules"}
CORE_INCLUDE = ["-Icore/include", "-Icore/src", "-Icore", "-Iswig", "-Iswig/lang", "-Ibindings/common",
                "-Ibindings/ruby", "-Ibindings/python"]


def sources(suffixes, names=(), interpreters=()):
    """Yield the files of the checkout that have one of these suffixes or names, and the scripts for
    one of these interpreters."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.endswith(suffixes) or name in names or ("." not in name and interpreter(path) in interpreters):
                yield path


def interpreter(path):
    """Return the name of the interpreter in the first line of a script, without its folder, or
    None."""
    with open(path, "rb") as file:
        words = file.readline().decode(errors="replace").split()
    return os.path.basename(words[-1]) if words and words[0].startswith("#!") else None


def clang_format(sh):
    sh("clang-format", "--dry-run", "-Werror", *sources((".c", ".h", ".cc")))


def clang_tidy(sh):
    """Run clang-tidy on the unity files of the core and of the command, and on every file of the
    bindings."""
    made = BUILD / "lint"
    made.mkdir(exist_ok=True)
    sh("protoc-c", "--proto_path=core/proto", f"--c_out={made}", "profile.proto", "push.proto", cwd=ROOT)
    options = CORE_INCLUDE + ["-std=gnu11", "-D_GNU_SOURCE", "-DSPANPROF_STATIC"]
    for folder in [made, *ruby_headers(), *python_headers()]:
        options += ["-isystem", str(folder)]
    files = ["core/src/spanprof_unity.c", "core/command/command_unity.c"]
    files += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "bindings").rglob("*.c"))
    # xargs runs two processes at a time, and fails if a process fails.
    (made / "files").write_bytes(b"".join(file.encode() + b"\0" for file in files))
    sh("xargs", "-0", "-a", made / "files", "-n", "12", "-P", "2", "sh", "-c",
       'exec clang-tidy --quiet --config-file=tests/lint/clang-tidy "$@" -- ' + " ".join(options), "sh", cwd=ROOT)


def shellcheck(sh):
    """The excluded checks report names that come from sourced files, and text that another shell
    expands."""
    sh("shellcheck", "-e", "SC1090,SC1091,SC2034,SC2154,SC2015,SC2016", *sources((".sh",), (), ("sh", "bash")))


def ruby_lint(sh):
    sh("rubocop", "--config", ROOT / "tests/lint/rubocop.yml", "--cache", "false",
       *sources((".rb", ".ru", ".gemspec"), ("Rakefile", "Gemfile"), ("ruby",)))


def python_lint(sh):
    """pyflakes skips a module that only exports the names of another module, where it would report unused names."""
    files = list(sources((".py",), (), ("python3",)))
    sh("pycodestyle", "--config", ROOT / "tests/lint/pycodestyle", *files)
    sh("pyflakes3", *(file for file in files if not file.endswith("/pyroscope_io/__init__.py")))


@stage("format", "clang-format and the linters",
       "clang-format clang-tidy shellcheck rubocop pyflakes3 pycodestyle ruby ruby-dev python3-dev", 20)
def format_stage(run):
    tools = {"clang-format": clang_format, "shellcheck": shellcheck, "python": python_lint, "ruby": ruby_lint,
             "clang-tidy": clang_tidy}
    run.lanes(functools.partial(run.check, f"format-{name}", tool) for name, tool in tools.items())
