/* A server that misbehaves, on a thread of this process. What it stores it adds
 * to a tally, repeats left out. */
#ifndef TROUBLE_SERVER_H
#define TROUBLE_SERVER_H

#include "tally.h"

typedef enum trouble_mode {
  TROUBLE_NONE,
  TROUBLE_STATUS,     /* answers `status`, with `retry_after_s` unless 0 */
  TROUBLE_SLOW,       /* stores, waits, answers */
  TROUBLE_HANG,       /* never answers */
  TROUBLE_CUT,        /* closes in the middle of the body */
  TROUBLE_UNANSWERED, /* stores and closes */
  TROUBLE_HALF,       /* stores and closes in the middle of the answer */
  TROUBLE_GARBAGE,    /* stores nothing, answers what is no HTTP */
  TROUBLE_REDIRECT,
  TROUBLE_MIXED, /* all of these in turn, now and then none */
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

/* Start it; mode, status and retry_after_s are set. */
void trouble_server_start(trouble_server *server);

/* Its tally stays, and is the caller's to dispose of. */
void trouble_server_stop(trouble_server *server);

#endif
