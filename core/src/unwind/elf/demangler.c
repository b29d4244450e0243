#include "demangler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "util/system/loader.h"

/* Prevent the unloading of the library that contains `symbol`. Returns NULL if
 * `symbol` is in the program itself or unknown. */
static void *demangler_pin(const void *symbol) {
  Dl_info info;

  if (!dladdr(symbol, &info) || !info.dli_fname)
    return NULL;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
}

/* Find a demangler that cannot be unloaded while it is used: either that of
 * libstdc++, to which spanprof then holds a reference, or any function with the
 * same name (that of libc++abi, or of a program into which one of them is
 * linked statically). Never loads a library. */
static void demangler_find(sp_demangler *demangler) {
  static const char name[] = "__cxa_demangle";
  void *program, *symbol, *in_program;

  demangler->handle =
      dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  symbol = dlsym(demangler->handle ? demangler->handle : RTLD_DEFAULT, name);
  if (symbol && !demangler->handle)
    demangler->handle = demangler_pin(symbol);
  if (symbol && !demangler->handle) {
    program = dlopen(NULL, RTLD_LAZY);
    in_program = program ? dlsym(program, name) : NULL;
    if (program)
      dlclose(program);
    if (in_program != symbol)
      symbol = NULL;
  }
  memcpy(&demangler->demangle, &symbol, sizeof symbol);
}

void sp_demangler_init(sp_demangler *demangler) {
  *demangler = (sp_demangler){0};
}

void sp_demangler_dispose(sp_demangler *demangler) {
  if (demangler->handle) {
    sp_loader_enter();
    dlclose(demangler->handle);
    sp_loader_leave();
  }
  sp_demangler_init(demangler);
}

void sp_demangler_apply(sp_demangler *demangler, char *name, size_t size,
                        uint64_t generation) {
  char *readable;
  size_t length;
  int st = 0;

  if (strncmp(name, "_Z", 2) != 0)
    return;
  if (!demangler->demangle &&
      (!demangler->tried || demangler->generation != generation)) {
    sp_demangler_dispose(demangler);
    demangler->tried = true;
    demangler->generation = generation;
    sp_loader_enter();
    demangler_find(demangler);
    sp_loader_leave();
  }
  if (!demangler->demangle)
    return;
  readable = demangler->demangle(name, NULL, NULL, &st);
  if (readable && st == 0) {
    length = strnlen(readable, size - 1);
    memcpy(name, readable, length);
    name[length] = '\0';
  }
  free(readable); /* __cxa_demangle() allocates its result with malloc() */
}
