/* Suppresses SIGPIPE, which a write to a closed pipe or connection sends to the
 * writing thread, and whose default action ends the program. */
#ifndef SP_SIGPIPE_H
#define SP_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

typedef struct sp_sigpipe {
  sigset_t before;
  bool pending;
} sp_sigpipe;

/* Block the signal in the calling thread. */
void sp_sigpipe_block(sp_sigpipe *hold);

/* Discard a SIGPIPE that arrived since sp_sigpipe_block(), and restore the
 * mask.
 */
void sp_sigpipe_restore(const sp_sigpipe *hold);

#endif
