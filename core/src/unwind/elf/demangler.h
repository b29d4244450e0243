/* C++ names made readable, by the C++ runtime's own demangler where the
 * process has one loaded. */
#ifndef SP_DEMANGLER_H
#define SP_DEMANGLER_H

#include "util/base.h"

typedef struct sp_demangler {
  char *(*demangle)(const char *name, char *buffer, size_t *size, int *st);
  void *handle;        /* keeps the runtime loaded */
  uint64_t generation; /* of the modules when it was last looked for */
  bool tried;
} sp_demangler;

void sp_demangler_init(sp_demangler *demangler);
void sp_demangler_dispose(sp_demangler *demangler);

/* Replace a mangled name, cut to `size` bytes; any other stays as it is.
 * `generation` changes when a demangler may have been loaded since. */
void sp_demangler_apply(sp_demangler *demangler, char *name, size_t size,
                        uint64_t generation);

#endif
