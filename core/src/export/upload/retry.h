/* Decides whether and when to send a profile again. The decision has no side
 * effects, so that a table can test it.
 *
 * The meaning of the answers was recorded from Pyroscope 3fe6a457a
 * (2026-08-21). It answers 500 while its storage starts, and forever to a
 * profile that it cannot decode. It answers 429 to a rate that is temporarily
 * too high, and to a profile that is too large. So some answers may be the
 * upload's own fault, and justify only a few tries; other answers are the
 * server's state, and the client waits. It also waits if new credentials, a new
 * address or a roll-out can change the answer (rejected credentials, an unknown
 * path, a redirect, a captive portal), but then sends only one request in 30 to
 * 60 s. */
#ifndef SP_RETRY_H
#define SP_RETRY_H

#include "util/base.h"

/* The server refuses profiles older than an hour (pyroscope v2.2.1,
 * pkg/validation/limits.go, reject-older-than), so a try after this age is
 * pointless. */
#define SP_RETRY_MAX_AGE_S 2700

typedef struct sp_retry_case {
  long status;        /* HTTP status; 0: there was no complete answer */
  bool not_pyroscope; /* a 2xx that does not acknowledge the profile */
  uint32_t failures; /* consecutive failures of all uploads, including this one;
                      * at least 1 */
  uint32_t
      refusals; /* earlier answers to this upload that may be its own fault */
  bool retry_after_given;
  uint64_t retry_after_ns; /* from now */
  uint64_t age_ns;         /* age of the profile */
  uint64_t max_age_ns;
  uint64_t now_ns; /* monotonic */
  uint64_t random; /* all 64 bits are random */
} sp_retry_case;

typedef enum sp_retry_verdict {
  SP_RETRY_ACCEPTED,  /* acknowledged by a 2xx */
  SP_RETRY_AGAIN,     /* send again at at_ns */
  SP_RETRY_REFUSED,   /* refused forever */
  SP_RETRY_EXHAUSTED, /* the tries are used up */
  SP_RETRY_EXPIRED,   /* too old at the next possible try */
} sp_retry_verdict;

typedef struct sp_retry {
  sp_retry_verdict verdict;
  uint64_t at_ns;     /* monotonic: no request is sent before */
  bool own_fault;     /* the upload may be the reason: send others first */
  bool is_limited;    /* 429 */
  bool is_repairable; /* by other credentials, another address or a roll-out */
  bool is_ordered;    /* the server set the time, or asked for fewer requests */
} sp_retry;

/* The waiting time and the tries of a profile. Ages are counted in monotonic
 * time, because a jump of Unix time would drop all waiting profiles. The server
 * refuses profiles that became too old while the machine slept. */
typedef struct sp_tries {
  uint64_t began_ns; /* monotonic; may wrap below 0, because only differences
                      * are used */
  uint64_t retry_ns; /* monotonic: not sent before, because of its own fault */
  uint32_t refusals; /* answers that may be the upload's own fault */
  bool attempted;    /* was sent before */
} sp_tries;

void sp_retry_decide(sp_retry *out, const sp_retry_case *retry_case);

/* Return a random number from the system for the next decision. */
uint64_t sp_retry_random(void);

#endif
