"""spanprof replaces functions of a module when the program imports it, whatever loader
the module has."""

from __future__ import annotations

import unittest

from program import ProgramCase

# The end of each program. It imports multiprocessing.spawn for the first time, and
# checks that spanprof has replaced a function of it and that the module has its own
# loader, not spanprof's.
FOLLOWED = """
import multiprocessing.spawn
assert multiprocessing.spawn.get_preparation_data.__wrapped__
assert type(multiprocessing.spawn.__spec__.loader).__module__ != "spanprof._lazy"
assert type(multiprocessing.spawn.__loader__).__module__ != "spanprof._lazy"
"""


class LazyTest(ProgramCase):
    def test_a_loader_of_many_modules_without_attributes(self) -> None:
        self.run_source("""
import importlib.abc, importlib.machinery, importlib.util, sys, spanprof

class Loader(importlib.abc.Loader):
    __slots__ = ()

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path = module.__spec__.origin
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), module.__dict__)

class Finder:
    loader = Loader()

    def find_spec(self, name, path=None, target=None):
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if found and str(found.origin).endswith(".py"):
            package = found.submodule_search_locations
            found = importlib.util.spec_from_loader(name, self.loader, origin=found.origin)
            found.submodule_search_locations = package
        return found

assert "multiprocessing.spawn" not in sys.modules
assert spanprof.start()
sys.meta_path.insert(1, Finder())
sys.path_importer_cache.clear()
""" + FOLLOWED)

    def test_another_library_hooks_into_the_same_module(self) -> None:
        """The other library works as wrapt's post-import hooks do: its finder asks all
        other finders, and its loader forwards all attributes to theirs."""
        for at in (0, 1):
            self.run_source(f"""
import importlib.util, sys, spanprof

class Loader:
    def __init__(self, loader):
        object.__setattr__(self, "loader", loader)

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def __setattr__(self, name, value):
        setattr(self.loader, name, value)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        imported.append(module.__name__)

class Finder:
    busy = False

    def find_spec(self, name, path=None, target=None):
        if self.busy or name != "multiprocessing.spawn":
            return None
        self.busy = True
        try:
            found = importlib.util.find_spec(name)
        finally:
            self.busy = False
        found.loader = Loader(found.loader)
        return found

imported = []
assert spanprof.start()
sys.meta_path.insert({at}, Finder())
""" + FOLLOWED + """
assert imported == ["multiprocessing.spawn"], imported
""")


if __name__ == "__main__":
    unittest.main()
