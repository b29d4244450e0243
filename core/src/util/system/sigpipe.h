/* Suppresses SIGPIPE. A write to a closed pipe or connection sends this signal
 * to the writing thread; its default action ends the program. */
#ifndef SP_SIGPIPE_H
#define SP_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

typedef struct sp_sigpipe {
  sigset_t before;
  bool pending;
} sp_sigpipe;

/* Block SIGPIPE in the calling thread, and save the previous state. */
void sp_sigpipe_block(sp_sigpipe *state);

/* Discard a SIGPIPE that arrived since sp_sigpipe_block(), and restore the
 * signal mask. */
void sp_sigpipe_restore(const sp_sigpipe *state);

#endif
