/* The token that requests have to send: given, or in a file that is read again
 * when it changes. */
#ifndef SP_TOKEN_H
#define SP_TOKEN_H

#include <pthread.h>
#include <sys/stat.h>

#include "../../util/base.h"

#define SP_TOKEN_BYTES_MAX 512

typedef struct sp_token {
  /* Fixed after sp_token_init(). */
  const char *path; /* NULL: it is given */
  /* Guarded by lock. */
  pthread_mutex_t lock;
  struct stat read;              /* the file that was read last */
  char text[SP_TOKEN_BYTES_MAX]; /* "": none is wanted */
} sp_token;

/* `given` and `path` may be NULL, and one of them is; `path` is borrowed.
 * SPANPROF_ERR_ARGUMENT: the token is too long, or the file is unreadable or
 * empty. */
spanprof_status sp_token_init(sp_token *token, const char *given,
                              const char *path);
void sp_token_dispose(sp_token *token); /* also of one all zero */

static inline bool sp_token_is_wanted(const sp_token *token) {
  return token->path || token->text[0];
}

/* Whether it is the token. Takes a time that tells only its length. A file that
 * became unreadable or empty leaves the token as it was. */
bool sp_token_is(sp_token *token, const char *text, size_t size);

#endif
