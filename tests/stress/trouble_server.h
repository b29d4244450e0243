/* A server for profiles that misbehaves. It runs on a thread of this process.
 * It stores a profile by adding it to a tally, which ignores repeated profiles.
 */
#ifndef TROUBLE_SERVER_H
#define TROUBLE_SERVER_H

#include "tally.h"

typedef enum trouble_mode {
  TROUBLE_NONE,
  /* Answers with `status`, and with the header Retry-After unless
   * `retry_after_s` is 0. */
  TROUBLE_STATUS,
  TROUBLE_SLOW, /* stores the profile, waits, and answers */
  TROUBLE_HANG, /* never answers */
  TROUBLE_CUT,  /* closes the connection in the middle of the request's body */
  /* stores the profile and closes the connection without an answer */
  TROUBLE_UNANSWERED,
  /* stores the profile and closes the connection in the middle of the answer */
  TROUBLE_HALF,
  /* Stores nothing and answers with something other than HTTP. */
  TROUBLE_GARBAGE,
  TROUBLE_REDIRECT,
  TROUBLE_MIXED, /* all modes above in rotation */
} trouble_mode;

typedef struct trouble_server {
  /* These fields do not change after the start. */
  trouble_mode mode;
  int status;
  unsigned retry_after_s;
  char address[64]; /* "http://127.0.0.1:4711" */
  int listener;
  pthread_t thread;
  /* The server's thread writes these fields. */
  tally stored;
  unsigned requests;
} trouble_server;

/* Start the server. The caller has set `mode`, `status` and `retry_after_s`. */
void trouble_server_start(trouble_server *server);

/* Stop the server. The caller disposes of `server->stored`. */
void trouble_server_stop(trouble_server *server);

#endif
