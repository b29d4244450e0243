"""The stack walk with invalid memory. The test compiles a library with the sources of
the stack walk and functions that pass invalid memory to it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import unittest

from program import ProgramCase

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent

LIBRARY = """
#define _PyRuntime moved_runtime
#include "vm/py_walker.c"
#include "vm/py_code.c"
#include <sys/mman.h>

/* The walker reads this memory instead of _PyRuntime. It has no thread key. */
_PyRuntimeState moved_runtime;

int thread_found(void) {
  return py_sp_walk_open();
}

int thread_key_used(void) {
  return walk_thread.key != NULL;
}

int slot_after_fork(PyCodeObject *code) {
  py_sp_space *space;
  py_sp_probe probe = {0};
  py_sp_code found;
  uint64_t known;
  uint32_t step = 0;

  py_sp_code_open();
  py_sp_space_enter();
  space = py_sp_space_current();
  py_sp_code_find(&probe, code, true, &found);
  while (slot_at(space, code, step)->address != (uint64_t)(uintptr_t)code)
    step++;
  slot_at(space, code, step)->id = 0;
  code_writers = 1;
  py_sp_space_leave();
  py_sp_code_after_fork();
  py_sp_space_enter();
  py_sp_code_find(&probe, code, true, &found);
  known = code_known;
  py_sp_code_find(&probe, code, true, &found);
  py_sp_space_leave();
  return code_known == known && found.id != 0;
}

#if PY_SP_LAYOUT_DATA_STACK
#define STACK_WORDS 1000
#define IN_LOOP     1500

static const spanprof_range loop = {1000, 2000};

static struct {
  PyThreadState thread;
  char *code;
  size_t size;
} leaf;

int frames_at(unsigned pc) {
  const spanprof_capture capture = {.pc = pc};
  spanprof_frame frames[4];
  size_t count;
  int cut;

  py_sp_space_enter();
  count = py_sp_walk(&leaf.thread, &capture, frames, 4, &cut);
  py_sp_space_leave();
  return (int)count;
}

/* Put a copy of the caller's frame alone on a data stack, with a copy of its
 * code. */
static void leaf_make(void) {
  static struct {
    _PyStackChunk head;
    PyObject *words[STACK_WORDS];
  } chunk;
  const py_sp_pyframe *real;
  const PyCodeObject *code;
  uintptr_t *frame = (uintptr_t *)(void *)chunk.head.data;
  size_t bytes, i;
#if PY_VERSION_HEX < 0x030d0000
  static _PyCFrame cframe;
#endif

  leaf.thread = *PyThreadState_Get();
  real = *(const py_sp_pyframe *const *)layout_top_address(&leaf.thread);
  code = layout_frame_code(real);
  leaf.size = sizeof *code + (size_t)Py_SIZE(code) * sizeof(_Py_CODEUNIT);
  leaf.code = mmap(NULL, leaf.size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(leaf.code, code, leaf.size);
  bytes = layout_code_words(code) * sizeof(void *);
  memcpy(frame, real, bytes);
  for (i = 0; i < sizeof *real / sizeof *frame; i++)
    if (frame[i] >= (uintptr_t)code && frame[i] < (uintptr_t)code + leaf.size)
      frame[i] += (uintptr_t)leaf.code - (uintptr_t)code;
  ((py_sp_pyframe *)(void *)frame)->previous = NULL;
  chunk.head.size = sizeof chunk;
  leaf.thread.datastack_chunk = &chunk.head;
  leaf.thread.datastack_top = (PyObject **)(void *)((char *)frame + bytes);
#if PY_VERSION_HEX < 0x030d0000
  leaf.thread.cframe = &cframe;
#endif
  *(const void **)layout_top_address(&leaf.thread) = frame;
  py_sp_code_open();
  py_sp_walk_set_loop(&loop, 1);
}

/* Walk code, then unmap it and walk again. Returns two decimal digits: the numbers of
 * frames of the first and the second walk. */
int leaf_of_unmapped_code(void) {
  int before;

  leaf_make();
  before = frames_at(IN_LOOP);
  munmap(leaf.code, leaf.size);
  return before * 10 + frames_at(IN_LOOP);
}

/* Walk known code whose reference count was overwritten with `references`. Returns
 * two decimal digits: the numbers of frames found with a pc inside and outside of the
 * loop. */
int leaf_of_freed_code(void *references) {
  leaf_make();
  frames_at(IN_LOOP);
  memcpy(leaf.code + offsetof(PyObject, ob_refcnt), &references,
         sizeof references);
  return frames_at(IN_LOOP) * 10 + frames_at(1);
}
#endif
"""


class WalkerMemoryTest(ProgramCase):
    def setUp(self) -> None:
        super().setUp()
        source = self.directory / "walker.c"
        source.write_text(LIBRARY)
        binding = CHECKOUT / "bindings/python"
        include = [f"-I{CHECKOUT / folder}" for folder in (
            "core/include", "core/src", "bindings/python")]
        subprocess.run(
            [*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-O2", "-shared", "-fPIC",
             "-D_GNU_SOURCE", "-DSPANPROF_STATIC", *include,
             f"-I{sysconfig.get_path('include')}", source,
             *(binding / f"{name}.c" for name in (
                 "memory/py_space", "memory/py_text", "memory/py_probe", "vm/py_prefetch",
                 "vm/py_record", "vm/py_lines")),
             "-o", self.directory / "walker.so", "-lpthread"], check=True)

    def evaluate(self, call: str) -> str:
        return self.run_source(f"""
            import ctypes, os, sys
            library = ctypes.PyDLL({str(self.directory / "walker.so")!r}, os.RTLD_LAZY)
            print({call})
        """).stdout

    def test_a_thread_key_at_another_address(self) -> None:
        self.assertEqual(
            self.evaluate("library.thread_found(), library.thread_key_used()"), "1 0\n")

    def test_a_slot_that_was_being_written_at_a_fork(self) -> None:
        self.assertEqual(self.evaluate(
            "library.slot_after_fork(ctypes.py_object(burn.__code__))"), "1\n")

    @unittest.skipIf(sys.version_info < (3, 11), "frames are not on a data stack")
    def test_code_of_an_unwritten_innermost_frame(self) -> None:
        self.assertEqual(self.evaluate("library.leaf_of_unmapped_code()"), "10\n")

    @unittest.skipIf(sys.version_info < (3, 11), "frames are not on a data stack")
    def test_freed_code_whose_memory_is_still_readable(self) -> None:
        """If the thread was interrupted inside the eval loop, the reference count shows
        that the code object was freed, and the frame is refused. If it was interrupted
        outside the loop, the frame is completely written and accepted without this
        check."""
        for references in "None", "ctypes.c_void_p(0x7f0012345678)":
            self.assertEqual(self.evaluate(f"library.leaf_of_freed_code({references})"), "1\n")
        self.assertEqual(self.evaluate("library.leaf_of_freed_code(ctypes.c_void_p(3))"), "11\n")


if __name__ == "__main__":
    unittest.main()
