#include "tls.h"

#include <pthread.h>

static pthread_once_t tls_once = PTHREAD_ONCE_INIT;
static pthread_key_t tls_key;
static _Atomic bool tls_made; /* tls_key was created */
static void (*_Atomic tls_ending)(void *self);

static void tls_make(void) {
  if (pthread_key_create(&tls_key, tls_ending) == 0)
    atomic_store_explicit(&tls_made, true, memory_order_release);
}

bool sp_tls_init(void (*ending)(void *self)) {
  /* All callers pass the same `ending`, so it does not matter which caller
   * creates the key. */
  if (!atomic_load_explicit(&tls_made, memory_order_acquire)) {
    tls_ending = ending;
    pthread_once(&tls_once, tls_make);
  }
  return atomic_load_explicit(&tls_made, memory_order_acquire);
}

#if defined(__GLIBC__)
_Thread_local sp_self *sp_tls_self;

bool sp_tls_set(sp_self *self) {
  if (pthread_setspecific(tls_key, self) != 0 && self)
    return false;
  sp_tls_self = self;
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}
#else
SP_SIGNAL_SAFE sp_self *sp_tls_get(void) {
  if (!atomic_load_explicit(&tls_made, memory_order_acquire))
    return NULL;
  return pthread_getspecific(tls_key);
}

bool sp_tls_set(sp_self *self) {
  return pthread_setspecific(tls_key, self) == 0 || !self;
}
#endif
