"""The stage of the server's page: types, linter, and tests in Chromium with a real server."""
import functools
import shutil

from stage import BUILD, ROOT, Failure, stage

PICTURE_BYTES_MAX = 150_000
COPY = BUILD / "page/check"
COPIED = ["src", "test", "package.json", "package-lock.json", ".npmrc", "tsconfig.json", "eslint.config.js", "build.mjs"]


def picture(sh):
    size = (ROOT / "core/docs/page.png").stat().st_size
    if size > PICTURE_BYTES_MAX:
        raise Failure(f"core/docs/page.png has {size} bytes; at most {PICTURE_BYTES_MAX} are allowed")


def packages(sh):
    """Install npm's packages in a copy, so that nothing is written next to the sources."""
    COPY.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        source, target = ROOT / "core/page" / name, COPY / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)
    sh("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=COPY)


@stage("page", "the page of the server, in Chromium and Firefox", "chromium firefox-esr", 168)
def page(run):
    commands = BUILD / "dev/core/command"
    run.env["SPANPROF_SERVER"] = str(commands / "spanprof-server")
    run.env["SPANPROF_COMMAND"] = str(commands / "spanprof")
    run.build("dev", "spanprof_server", "spanprof_command")
    run.check("page-built", "test", "-s", BUILD / "dev/core/page/page.html")
    run.check("page-picture-size", picture)
    if not run.check("page-packages", packages):
        return
    npm = ["npm", "--prefix", COPY, "run", "--silent"]
    run.check("page-lint", *npm, "check")
    tests = sorted(path.name.removesuffix(".test.ts") for path in (COPY / "test").glob("*.test.ts"))
    run.lanes(functools.partial(run.check, f"page-{test}", *npm, "test", test, seconds=600) for test in tests)
