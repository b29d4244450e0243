/* The library's thread-local pointer, and the pthread key that reports a
 * thread's end. */
#ifndef SP_TLS_H
#define SP_TLS_H

#include "context.h"

/* Create the key, once. `ending` is called on a thread that ends, with the
 * record it set last. Returns false if the process has no keys left. */
bool sp_tls_init(void (*ending)(void *self));

/* Set the calling thread's record. Returns false if out of memory; NULL cannot
 * fail. */
bool sp_tls_set(sp_self *self);

#if defined(__GLIBC__)
/* Initial-exec: reading is one load, and the first access from a handler cannot
 * allocate (global-dynamic does in a library that was loaded late). The
 * library's few words fit the surplus of static TLS that glibc reserves (1664
 * bytes: glibc 2.36, elf/dl-tls.c, rtld.optional_static_tls and
 * TLS_STATIC_SURPLUS). */
extern _Thread_local sp_self *sp_tls_self
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

SP_SIGNAL_SAFE static inline sp_self *sp_tls_get(void) {
  return sp_tls_self;
}
#else
/* musl rejects initial-exec in a library that is loaded late. Its
 * pthread_getspecific() is one load from the thread's own block. */
SP_SIGNAL_SAFE sp_self *sp_tls_get(void);
#endif

#endif
