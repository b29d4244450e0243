"""Stages that run other stages in a separate Debian system under build/suite: a bare Debian 12,
trixie or sid."""
import functools
import os
import socket
import subprocess

from stage import BUILD, ROOT, STRESS_SECONDS, Failure, setting, stage

SUITE = BUILD / "suite"
# Folder of the certificates that this machine trusts in addition to Debian's.
CERTIFICATES = "/usr/local/share/ca-certificates"
EXCLUDED = ["./build", "./.git", "vendor", "node_modules", "__pycache__", "*.egg-info"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def as_root(sh, *command):
    sh(*([] if os.getuid() == 0 else ["sudo"]), *command)


def copy_checkout(sh, folder):
    """Copy the checkout, without files that builds have made in it."""
    excluded = " ".join(f"'--exclude={name}'" for name in EXCLUDED)
    # Status 1 of tar means that a file changed during the copy, because another stage runs. This is
    # accepted.
    script = f'mkdir -p "$2"; {{ tar -C "$1" -c {excluded} . || [ $? -eq 1 ]; }} | tar -C "$2" -x --no-same-owner'
    as_root(sh, "bash", "-euc", script, "bash", ROOT, folder)


def make_debian(sh, suite, root, packages=""):
    as_root(sh, "rm", "-rf", root)
    SUITE.mkdir(exist_ok=True)
    as_root(sh, "debootstrap", "--variant=minbase", *([f"--include={packages}"] if packages else []), suite, root)


def copy_certificates(sh, root):
    if os.path.isdir(CERTIFICATES):
        as_root(sh, "cp", "-rT", CERTIFICATES, f"{root}{CERTIFICATES}")


def enter(sh, root, mounts, user, folder, *command, env=()):
    """Run a command in the Debian system in the folder `root`. The mounts and processes in it exist
    only as long as the command runs.

    `mounts` are pairs of a folder of this machine and a folder of the Debian system."""
    home = "/root" if user == "root" else f"/home/{user}"
    script = """
        root=$1; shift
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        """
    for source, target in mounts:
        script += f"""
        mkdir -p "{source}" "$root{target}"
        mount --bind "{source}" "$root{target}"
        """
    script += f"""
        exec chroot --userspec={user}:{user} "$root" env -i LANG=C.UTF-8 HOME={home} PATH={PATH} \\
          DEBIAN_FRONTEND=noninteractive "$@"
        """
    as_root(sh, "unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", script, "bash", root,
            *env, "bash", "-euc", f'cd {folder or home}; "$@"', "bash", *command)


# Stages for other versions of the interpreters, in newer versions of Debian.

def make_suite(sh, suite, source, packages):
    """Make a Debian system with packages of the suite `source`. The file srv/complete is created last."""
    root = SUITE / suite
    make_debian(sh, suite, root, "ca-certificates,procps")
    copy_certificates(sh, root)
    enter(sh, root, [], "root", "/", "bash", "-euxc", f"""
        update-ca-certificates
        echo "deb http://deb.debian.org/debian {source} main" > /etc/apt/sources.list.d/{source}.list
        echo 'Acquire::Check-Valid-Until "false";' > /etc/apt/apt.conf.d/old-lists
        apt-get -q update
        apt-get -qy --no-install-recommends install -t {source} {packages}
        touch /srv/complete""")


def run_stages(sh, suite, stages):
    """Run stages in a copy of the checkout in the Debian system. The build folder, which is not
    part of the copy, is kept for the next run."""
    root = SUITE / suite
    as_root(sh, "rm", "-rf", root / "srv/spanprof")
    copy_checkout(sh, root / "srv/spanprof")
    kept = [f"{name}={os.environ[name]}" for name in ("SPANPROF_CHECKS", "SPANPROF_EVERY_TEST") if name in os.environ]
    only = [] if "SPANPROF_EVERY_TEST" in os.environ else ["SPANPROF_VERSION_TESTS=1"]
    enter(sh, root, [(root / "srv/build", "/srv/spanprof/build")], "root", "/srv/spanprof", "tests/run", *stages,
          env=[f"SPANPROF_STRESS_SECONDS={STRESS_SECONDS}", "SPANPROF_AT_ONCE=1", *kept, *only])


def suite_stages(run, suite, source, packages, stages):
    complete = SUITE / suite / "srv/complete"
    if not complete.exists() and not run.check(f"{suite}-packages", make_suite, suite, source, packages, seconds=1800):
        return
    run.include(f"{suite}-stages", run_stages, SUITE / suite / "srv/build/log/results.json", suite, stages)


@stage("trixie", "the tests that depend on the version, with Ruby 3.3, Ruby 3.4 and CPython 3.13", "debootstrap", 400)
def trixie(run):
    suite_stages(run, "trixie", "experimental", "ruby3.4 ruby3.4-dev", ["ruby", "python"])


@stage("sid", "the tests that depend on the version, with CPython 3.14 and 3.15", "debootstrap", by_name=True)
def sid(run):
    suite_stages(run, "sid", "sid", "python3.15 python3.15-dev", ["python"])


# The stage for the README's commands examples/run and tests/run in a Debian 12 without other
# packages. They run as root with a package index of Python, and as a user with sudo without an
# index. SPANPROF_BARE_ALL=1 adds the other two combinations.

# The checks of tests/run that run in this Debian: those that install packages, and those whose
# result may depend on the user, the index or a new machine. Web servers are not among them, because
# examples/run runs them.
BARE_CHECKS = r"^(ruby|python)-(gem|sdist|.*-(install|locked_down))$|^python-.*-test_(autostart|exec|walker.*)$"
# More checks for a user who is not root: this user installs the gems that tests use without write
# access to system folders.
BARE_CHECKS_USER = r"|^ruby-.*-(gems|test_(autostart|rails|walker.*))$"


def make_bookworm(sh):
    root, complete = SUITE / "bookworm", SUITE / "bookworm.complete"
    if complete.exists():
        return
    make_debian(sh, "bookworm", root)
    # Copies of this system are deleted after use, so dpkg need not wait until data is on the disk.
    as_root(sh, "sh", "-c", f"echo force-unsafe-io > '{root}/etc/dpkg/dpkg.cfg.d/unsafe-io'")
    complete.touch()


def enter_bare(sh, name, user, *command):
    """Run a command in a bare Debian. The packages that apt downloads are kept for the next run."""
    debs = SUITE / f"{name}-debs"
    (debs / "partial").mkdir(parents=True, exist_ok=True)
    enter(sh, SUITE / name, [(debs, "/var/cache/apt/archives")], user, None, *command)


def make_bare(sh, name, user):
    """Make a copy of the bare Debian, with the checkout in the home folder of `user`."""
    root = SUITE / name
    as_root(sh, "rm", "-rf", root)
    as_root(sh, "cp", "-a", SUITE / "bookworm", root)
    copy_certificates(sh, root)
    home = "root"
    if user != "root":
        home = f"home/{user}"
        enter_bare(sh, name, "root", "bash", "-euxc", f"""
            apt-get -qq update
            apt-get -qqy --no-install-recommends install sudo
            useradd -m -s /bin/bash {user}
            echo '{user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/{user}""")
    copy_checkout(sh, root / home / "spanprof")
    enter_bare(sh, name, "root", "chown", "-R", f"{user}:{user}", f"/{home}/spanprof")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def bare_command(sh, name, user, index, *command):
    checks = BARE_CHECKS + ("" if user == "root" else BARE_CHECKS_USER)
    enter_bare(sh, name, user, "timeout", "-k", "5", "3600", "env", f"PIP_INDEX_URL={index}", f"PORT={free_port()}",
               "SPANPROF_AT_ONCE=1", "SPANPROF_EXAMPLE_SECONDS=3", "SPANPROF_STRESS_SECONDS=1", "SPANPROF_FUZZ_SECONDS=1",
               f"SPANPROF_CHECKS={checks}", "bash", "-euc", 'cd spanprof; "$@"', "bash", *command)


def bare_folder(run, user, where, index, order):
    """Run examples/run and tests/run in one bare Debian. Before the first one in `order`, nothing
    is installed."""
    name = f"bare-{user}-{where}"
    commands = {"examples": ["examples/run"], "tests": ["tests/run", "ruby", "python"]}
    if run.check(name, make_bare, name, user):
        for command in order:
            run.check(f"{name}-{command}", bare_command, name, user, index, *commands[command])
    run.must(f"{name}-removal", lambda sh: as_root(sh, "rm", "-rf", SUITE / name))


@stage("bare", "examples/run and tests/run, short, in a Debian 12 with nothing installed", "debootstrap", 578)
def bare(run):
    ready = [run.check("bare-debian", make_bookworm),
             run.check("bare-index", ROOT / "tests/python_packages.sh", "--debs", seconds=900)]
    if not all(ready):
        return
    server = subprocess.Popen([ROOT / "tests/package/python_index.py", BUILD / "python-debs", BUILD / "python-index"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        index, nowhere = server.stdout.readline().strip(), f"http://127.0.0.1:{free_port()}/simple"
        if not index:
            raise Failure("tests/package/python_index.py did not start")
        folders = [("root", "index", index, ["examples", "tests"]), ("user", "none", nowhere, ["tests", "examples"])]
        if setting("SPANPROF_BARE_ALL", 0):
            folders += [("root", "none", nowhere, ["tests", "examples"]), ("user", "index", index, ["examples", "tests"])]
        run.lanes(functools.partial(bare_folder, run, *folder) for folder in folders)
    finally:
        server.kill()
        server.wait()
