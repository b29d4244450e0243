"""Allocators of the program that place objects at other distances than CPython's own
allocator."""

from __future__ import annotations

import shutil
import subprocess
import unittest

from program import ProgramCase

# A library whose allocator places objects at distances that are multiples of `step`
# bytes, as memory profilers do, which store their own data next to each object. It
# never reuses memory.
SPACED = r"""
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

typedef struct allocator {
  void *ctx;
  void *(*malloc)(void *ctx, size_t size);
  void *(*calloc)(void *ctx, size_t count, size_t size);
  void *(*realloc)(void *ctx, void *old, size_t size);
  void (*free)(void *ctx, void *old);
} allocator;

extern void PyMem_GetAllocator(int domain, allocator *out);
extern void PyMem_SetAllocator(int domain, const allocator *in);

#define ARENA_BYTES ((size_t)8 << 30)
#define OBJECTS     2 /* PYMEM_DOMAIN_OBJ */

static allocator before;
static char *arena;
static size_t used, step;

static void *spaced_malloc(void *ctx, size_t size) {
  char *at = arena + used;

  (void)ctx;
  used += (size + sizeof size + 16 + step - 1) / step * step;
  if (used > ARENA_BYTES)
    return NULL;
  memcpy(at, &size, sizeof size);
  return at + 16;
}

static void *spaced_calloc(void *ctx, size_t count, size_t size) {
  return spaced_malloc(ctx, count * size); /* the arena is zero */
}

static int is_ours(const void *old) {
  return (const char *)old >= arena && (const char *)old < arena + ARENA_BYTES;
}

static void *spaced_realloc(void *ctx, void *old, size_t size) {
  size_t old_size;
  void *made;

  if (old && !is_ours(old))
    return before.realloc(before.ctx, old, size);
  made = spaced_malloc(ctx, size);
  if (made && old) {
    memcpy(&old_size, (char *)old - 16, sizeof old_size);
    memcpy(made, old, old_size < size ? old_size : size);
  }
  return made;
}

static void spaced_free(void *ctx, void *old) {
  (void)ctx;
  if (old && !is_ours(old))
    before.free(before.ctx, old);
}

void space_objects(size_t bytes) {
  allocator spaced = {0, spaced_malloc, spaced_calloc, spaced_realloc, spaced_free};

  step = bytes;
  arena = mmap(0, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PyMem_GetAllocator(OBJECTS, &before);
  PyMem_SetAllocator(OBJECTS, &spaced);
}
"""


@unittest.skipIf(shutil.which("gcc") is None, "there is no C compiler")
class AllocatorTest(ProgramCase):
    def test_objects_that_are_spaced_apart(self) -> None:
        (self.directory / "spaced.c").write_text(SPACED)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", self.directory / "spaced.so", self.directory / "spaced.c"],
                       check=True)
        steps = (32, 64, 96, 128, 160, 512, 1024, 4096)
        self.run_sources([f"""
            import ctypes, spanprof
            ctypes.PyDLL("./spaced.so").space_objects(ctypes.c_size_t({step}))
            assert spanprof.start(), spanprof.unavailable_reason()
        """ for step in steps])


if __name__ == "__main__":
    unittest.main()
