"""The stage of the gem. It builds the gem and installs it in the same way as users do, and tests
the installed gem, with each Ruby."""
import functools
import os
import re
import shutil

import binding
from stage import BUILD, EVERY_TEST, ROOT, STRESS_SECONDS, VERSION_TESTS, stage

# Tests that depend on the version of Ruby: its memory layouts, its hooks, and which thread or fiber uses the CPU.
VERSION_TEST_NAMES = """async enumerators exit fibers frames gc interrupts names profile ractors span_activation
    span_threads threads walker_modes""".split()
VERSION_STRESS_NAMES = "compaction eval_churn exceptions gc_stress steps storm thread_churn torn".split()
# Names of the gems that these tests use, and of the gems that these gems depend on.
VERSION_TEST_GEMS = re.compile(
    r"(async|console|drb|fiber-\w+|io-event|json|logger|metrics|minitest|mutex_m|prism|traces"
    r"|opentelemetry-(api|common|logs-api|metrics-api|registry|sdk|semantic_conventions))$")
TEST_SECONDS = 300


def gems(sh, ruby, version, every_test):
    """Install the gems that tests use into build/gems, unless they are there."""
    folder = BUILD / "gems" / version
    wanted = [line.split() for line in (ROOT / f"tests/gems/{version}.txt").read_text().splitlines()
              if line and not line.startswith("#") and (every_test or VERSION_TEST_GEMS.match(line.split()[0]))]
    missing = [f"{name}:{number}" for name, number in wanted if not list(folder.glob(f"specifications/{name}-{number}*.gemspec"))]
    if missing:
        sh.print(f"Ruby {version}: installing {len(missing)} gems")
        sh(ruby, "-S", "gem", "install", "--no-document", "--ignore-dependencies", "--conservative", *missing,
           env={"GEM_HOME": str(folder), "GEM_PATH": str(folder), "MAKEFLAGS": "-j2"})


def gem_install(sh, ruby, home):
    shutil.rmtree(home, ignore_errors=True)
    sh(ruby, "-S", "gem", "install", "--local", "--force", "--no-document", BUILD / "spanprof.gem", "--",
       "--enable-test-variables", env={"SPANPROF_REQUIRED": "1"})


def own_tests(sh, ruby):
    """Run tests of the interpreter itself while it is profiled."""
    version = binding.ask(ruby, "-e", "print RUBY_VERSION")
    sh("tests/runtimes/ruby_source.sh", version, cwd=ROOT)
    sh(ruby, "tests/runtimes/ruby.rb", BUILD / f"ruby-source/ruby-{version}", cwd=ROOT)


def jits(ruby):
    """Return lists of options of the interpreter, one for each kind of execution: without JIT, and
    with each of YJIT and ZJIT that this Ruby contains."""
    return [[], *([f"--{name.lower()}"] for name in ("YJIT", "ZJIT")
                  if binding.ask(ruby, f"--{name.lower()}", "-e", f"exit RubyVM::{name}.enabled?") is not None)]


class Version:
    """The checks with one Ruby."""

    def __init__(self, run, ruby, version, every_test):
        home = BUILD / f"ruby-{version}"
        self.run, self.ruby, self.version, self.every_test, self.home = run, ruby, version, every_test, home
        self.env = {"GEM_HOME": str(home), "GEM_PATH": f"{home}:{BUILD}/gems/{version}",
                    "PATH": f"{BUILD}/gems/{version}/bin:{os.environ['PATH']}"}

    def check(self, name, *command, seconds=None):
        # With `every_test`, all gems are installed, so no test may skip because a gem is missing.
        return self.run.check(f"ruby-{self.version}-{name}", *command, seconds=seconds, env=self.env, needs_all=self.every_test)

    def tests(self):
        for path in sorted((ROOT / "tests/ruby").glob("test_*.rb")):
            if self.every_test or path.stem.removeprefix("test_") in VERSION_TEST_NAMES:
                yield functools.partial(self.check, path.stem, self.ruby, "-w", f"-I{ROOT}/tests/ruby", path, "--verbose",
                                        seconds=TEST_SECONDS)

    def stress(self):
        for path in sorted((ROOT / "tests/stress/ruby").glob("*.rb")):
            if path.stem == "stress" or not (self.every_test or path.stem in VERSION_STRESS_NAMES):
                continue
            for jit in jits(self.ruby):
                yield functools.partial(self.check, f"stress{''.join(jit)}-{path.stem}", self.ruby, *jit, path,
                                        seconds=STRESS_SECONDS * 3 + 60)

    def package(self):
        """Checks of costs, installation and types."""
        yield functools.partial(self.check, "cost", binding.cost, "ruby", self.version, self.ruby,
                                "tests/cost/binding/cost.rb", seconds=300)
        yield functools.partial(self.check, "own_tests", own_tests, self.ruby, seconds=7200)
        if self.every_test:
            for path in sorted((ROOT / "tests/package").glob("gem_*.sh")):
                yield functools.partial(self.check, path.stem, path, self.ruby, seconds=900)
            yield functools.partial(self.check, "types", self.ruby, ROOT / "tests/package/gem_types.rb", "--verbose", seconds=240)

    def all(self):
        self.check("gems", gems, self.ruby, self.version, self.every_test, seconds=900)
        self.check("install", gem_install, self.ruby, self.home, seconds=180)
        self.run.lanes([*self.tests(), *self.stress(), *self.package()])


@stage("ruby", "the gem, installed and tested on every Ruby found",
       "ruby ruby-dev rake swig libffi-dev redis-server xz-utils", 464)
def ruby_stage(run):
    for name in ("RUBYOPT", "RUBYLIB", "BUNDLE_GEMFILE"):
        run.env.pop(name, None)
    headers = binding.ruby_headers()
    run.check("ruby-strict", binding.strict, "ruby", headers, "-initname", "spanprof_swig", seconds=120)
    run.check("ruby-rules", binding.handler_rules, "ruby", headers, "rb_sp_walker_walk", "rb_sp_walker_stack_end", seconds=60)
    run.check("ruby-gem", "rake", "--rakefile", ROOT / "ruby/Rakefile", "gem", seconds=60)
    for number, (ruby, version) in enumerate(binding.rubies()):
        if number > 0 and not (ROOT / f"tests/gems/{version}.txt").exists():
            run.skip(f"ruby-{version}", f"tests/gems/{version}.txt, the list of gems for its tests, does not exist")
            continue
        run.print(f"Ruby {binding.ask(ruby, '-e', 'print RUBY_VERSION')}: {ruby}")
        Version(run, ruby, version, EVERY_TEST or (number == 0 and not VERSION_TESTS)).all()
    if VERSION_TESTS:
        return
    if binding.ask("jruby", "-e", 'exit RUBY_VERSION >= "3.1"') is not None:
        run.check("jruby", ROOT / "tests/package/jruby.sh", seconds=900)
    else:
        run.skip("jruby", "no JRuby for Ruby 3.1 or newer is installed")
