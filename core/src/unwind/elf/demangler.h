/* Demangles C++ names with the C++ runtime's own demangler, if the process has
 * loaded one. */
#ifndef SP_DEMANGLER_H
#define SP_DEMANGLER_H

#include "util/base.h"

typedef struct sp_demangler {
  char *(*demangle)(const char *name, char *buffer, size_t *size, int *st);
  void *handle;        /* keeps the C++ runtime loaded */
  uint64_t generation; /* generation of the modules at the last search */
  bool tried;
} sp_demangler;

void sp_demangler_init(sp_demangler *demangler);
void sp_demangler_dispose(sp_demangler *demangler);

/* Demangle `name` in place, truncated to `size` bytes. Names that are not
 * mangled C++ names stay unchanged. `generation` is the generation of the
 * modules: if it differs from that of the last search, the function searches
 * for a demangler again. */
void sp_demangler_apply(sp_demangler *demangler, char *name, size_t size,
                        uint64_t generation);

#endif
