"""A suite of benchmarks. It has a command line, and parts that run one after the
other. Each part makes rows: the name of the figure, the measured figure, its
limit, a figure for comparison, and whether the limit holds ("yes", "no", or "-"
if it was not measured). The rows are printed as a table, and written to a file
for tests/bench/run."""
import argparse
import json
import os
import pathlib
import subprocess
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADS = ["bar", "measured", "figure", "comparison", "holds"]
WIDTHS = [38, 28, 18, 44, 11]
UNMEASURED = "could not be measured"


def show(rows):
    for cells in [HEADS, ["-" * width for width in WIDTHS], *rows]:
        columns = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, WIDTHS)]
        for i in range(max(map(len, columns))):
            print(" | ".join((column[i] if i < len(column) else "").ljust(width)
                             for column, width in zip(columns, WIDTHS)).rstrip())


def read(path):
    return json.loads(pathlib.Path(path).read_text())


def since(began):
    """Returns the time since `began`, and the machine's cores and load."""
    return f"{time.monotonic() - began:.0f} s, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def must(*command, **options):
    """Runs a command that must succeed; its output is shown if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}\n{' '.join(map(str, command))} failed")


def build(directory, targets):
    """Builds the targets, and returns the build directory: the given one, or that of the preset
    release."""
    if not directory:
        directory = ROOT / "build" / "release"
        must("cmake", "--preset", "release", cwd=ROOT)
    must("cmake", "--build", directory, "--target", *targets)
    return pathlib.Path(directory)


class Suite:
    """One run of a suite, with its rows so far. A subclass implements measure(name), which runs one
    part."""

    def __init__(self, description, names, short, **options):
        """`short` is the run time of --quick. `options` are more options, with their arguments for
        add_argument()."""
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
        parser.add_argument("--quick", action="store_true", help=f"{short} in all")
        parser.add_argument("--rows", metavar="FILE", help="also write the table as JSON")
        for name, option in options.items():
            parser.add_argument(f"--{name}", **option)
        parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
        self.arguments = parser.parse_args()
        if unknown := set(self.arguments.names) - set(names):
            parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
        self.names = self.arguments.names or list(names)
        self.quick = self.arguments.quick
        self.rows = []
        self.broken = False  # whether the running part has failed

    def environment(self, *foreign):
        """Returns the environment without variables that configure profiling or proxies, because
        only the benchmark may configure its session. Variables with a prefix in `foreign` are
        removed, too."""
        foreign += ("PYROSCOPE_", "OTEL_", "SPANPROF_")
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(foreign) and not name.lower().endswith("_proxy")}
        return kept | {"SPANPROF_BENCH_QUICK": "1" if self.quick else "0"}

    def row(self, bar, measured, figure, comparison="", holds=None):
        self.rows.append([bar, measured, figure, comparison, {True: "yes", False: "no"}.get(holds, "-")])

    def missing(self, bar, figure="", why=UNMEASURED):
        self.broken = self.broken or why == UNMEASURED
        self.row(bar, why, figure)

    def program(self, command, environment):
        """Runs a program, reads its rows, and shows its other output."""
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True,
                              errors="replace") as process:
            for line in process.stdout:
                if line.startswith("bar: "):
                    self.rows.append([cell.strip() for cell in line[5:].split("|")])
                else:
                    print("   ", line.rstrip(), flush=True)
        self.broken = self.broken or process.returncode != 0

    def part(self, name):
        """Runs a part. Returns whether everything could be measured."""
        began, count = time.monotonic(), len(self.rows)
        self.broken = False
        try:
            self.measure(name)
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            print(f"    {error}")
            self.missing(name)
        if len(self.rows) == count:
            self.missing(name)
        print(f"    {time.monotonic() - began:.0f} s", flush=True)
        return not self.broken

    def end(self):
        """Called after all parts, to add rows about all of them."""

    def run(self, of=""):
        """Runs the benchmarks and returns the exit status. `of` is the name of the measured
        version."""
        began, failed = time.monotonic(), []
        for i, name in enumerate(self.names, 1):
            print(f"== [{i}/{len(self.names)}] {name}", flush=True)
            if not self.part(name):
                failed.append(name)
        self.end()
        print(f"\n== {of}{since(began)}\n")
        show(self.rows)
        if self.arguments.rows:
            pathlib.Path(self.arguments.rows).write_text(json.dumps(self.rows))
        if failed:
            print(f"\nFailed, or could not be measured: {', '.join(failed)}")
        return 1 if failed else 0
