/* The token that requests must send: a configured text, or the content of a
 * file that is read again when it changes. */
#ifndef SP_TOKEN_H
#define SP_TOKEN_H

#include <pthread.h>
#include <sys/stat.h>

#include "util/base.h"

#define SP_TOKEN_BYTES_MAX 512

typedef struct sp_token {
  /* Fixed after sp_token_init(). */
  const char *path; /* NULL: the token was configured as text */
  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  struct stat read;              /* state of the file when it was last read */
  char text[SP_TOKEN_BYTES_MAX]; /* "": no token is required */
} sp_token;

/* Set the token to the text `given`, or to the content of the file `path`,
 * which is borrowed. At least one of the two is NULL. Returns
 * SPANPROF_ERR_ARGUMENT if the token is too long, or the file is unreadable or
 * empty. */
spanprof_status sp_token_init(sp_token *token, const char *given,
                              const char *path);
void sp_token_dispose(sp_token *token); /* the token may be all zero */

static inline bool sp_token_is_required(const sp_token *token) {
  return token->path || token->text[0];
}

/* Returns whether `text` is the token. The time of the comparison depends only
 * on `size`, so it does not reveal the token. If the file has become unreadable
 * or empty, the previous token stays valid. */
bool sp_token_is(sp_token *token, const char *text, size_t size);

#endif
