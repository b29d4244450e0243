/* The thread-local pointer to the calling thread's record (sp_self), and the
 * pthread key that reports the end of a thread. */
#ifndef SP_TLS_H
#define SP_TLS_H

#include "context.h"

/* Create the pthread key, once. `ending` is called on a thread that ends, with
 * the record that it passed to sp_tls_set() last. Returns false if the process
 * has no keys left. */
bool sp_tls_init(void (*ending)(void *self));

/* Set the calling thread's record. Returns false if out of memory; setting NULL
 * cannot fail. */
bool sp_tls_set(sp_self *self);

#if defined(__GLIBC__)
/* With the TLS model initial-exec, a read is one load, and the first access in
 * a signal handler cannot allocate memory (with global-dynamic it does if the
 * library was loaded by dlopen()). The few words of the library fit the surplus
 * of static TLS that glibc reserves (1664 bytes: glibc 2.36, elf/dl-tls.c,
 * rtld.optional_static_tls and TLS_STATIC_SURPLUS). */
extern _Thread_local sp_self *sp_tls_self
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

SP_SIGNAL_SAFE static inline sp_self *sp_tls_get(void) {
  return sp_tls_self;
}
#else
/* musl refuses to dlopen() a library that uses initial-exec. Its
 * pthread_getspecific() is one load from the thread's own block. */
SP_SIGNAL_SAFE sp_self *sp_tls_get(void);
#endif

#endif
