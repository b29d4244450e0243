/* A misbehaving server, on a thread of this process. It adds the profiles that
 * it stores to a tally, without repeats. */
#ifndef TROUBLE_SERVER_H
#define TROUBLE_SERVER_H

#include "tally.h"

typedef enum trouble_mode {
  TROUBLE_NONE,
  /* Answers with `status`, and with `retry_after_s` unless 0. */
  TROUBLE_STATUS,
  TROUBLE_SLOW,       /* stores, waits, answers */
  TROUBLE_HANG,       /* never answers */
  TROUBLE_CUT,        /* closes in the middle of the body */
  TROUBLE_UNANSWERED, /* stores and closes */
  TROUBLE_HALF,       /* stores and closes in the middle of the answer */
  /* Stores nothing, answers with something other than HTTP. */
  TROUBLE_GARBAGE,
  TROUBLE_REDIRECT,
  TROUBLE_MIXED, /* all of these in rotation, including TROUBLE_NONE */
} trouble_mode;

typedef struct trouble_server {
  /* Fixed after the start. */
  trouble_mode mode;
  int status;
  unsigned retry_after_s;
  char address[64]; /* "http://127.0.0.1:4711" */
  int listener;
  pthread_t thread;
  /* Written by its thread. */
  tally stored;
  unsigned requests;
} trouble_server;

/* Start the server; the caller sets mode, status and retry_after_s. */
void trouble_server_start(trouble_server *server);

/* Stop the server. The caller disposes of its tally. */
void trouble_server_stop(trouble_server *server);

#endif
