/* Whether and when to send again: a pure decision, so that a table tests it.
 *
 * What the answers mean was recorded from Pyroscope 3fe6a457a (2026-08-21): it
 * answers 500 while its storage starts and for ever to a profile it cannot
 * decode, 429 for a rate that passes and for a profile that never fits. So
 * some answers may be the upload's own fault and are worth few tries, others
 * are the server's state and are waited out. What new credentials, a new
 * address or a roll-out can mend (a refusal of who we are, a path that is not
 * there, a redirect, the page of a captive portal) is waited out too, slowly:
 * one request in 30 to 60 s, whatever waits. */
#ifndef SP_RETRY_H
#define SP_RETRY_H

#include "util/base.h"

/* The server refuses profiles older than an hour (pyroscope v2.2.1,
 * pkg/validation/limits.go, reject-older-than), so later than this a try is
 * pointless. */
#define SP_RETRY_MAX_AGE_S 2700

typedef struct sp_retry_case {
  long status;        /* of HTTP; 0: no whole answer came */
  bool not_pyroscope; /* a 2xx that is no acceptance */
  uint32_t failures;  /* in a row, of any upload, this one included; >= 1 */
  uint32_t refusals;  /* of this upload, by answers that may be its own fault,
                       * before this one */
  bool retry_after_given;
  uint64_t retry_after_ns; /* from now */
  uint64_t age_ns;         /* of the profile */
  uint64_t max_age_ns;
  uint64_t now_ns; /* monotonic */
  uint64_t random; /* all 64 bits */
} sp_retry_case;

typedef enum sp_retry_verdict {
  SP_RETRY_ACCEPTED,  /* 2xx of the server's kind */
  SP_RETRY_AGAIN,     /* at at_ns */
  SP_RETRY_REFUSED,   /* for ever */
  SP_RETRY_EXHAUSTED, /* its tries are used up */
  SP_RETRY_EXPIRED,   /* too old when it could be sent again */
} sp_retry_verdict;

typedef struct sp_retry {
  sp_retry_verdict verdict;
  uint64_t at_ns;     /* monotonic: nothing is sent to the server before */
  bool own_fault;     /* it may be the upload: let others go first */
  bool is_limited;    /* 429 */
  bool is_repairable; /* by credentials, address or roll-out */
  bool is_ordered;    /* the server itself said when, or to ask less */
} sp_retry;

/* Of one profile: since when it waits, and what was tried so far. Ages are
 * counted in monotonic time, as a leap of Unix time would drop all that waits.
 * What grew too old while the machine slept, the server refuses. */
typedef struct sp_tries {
  uint64_t began_ns; /* monotonic, maybe before that clock's 0: only how long
                      * ago it was counts */
  uint64_t retry_ns; /* monotonic: not sent before; for its own fault */
  uint32_t refusals; /* answers that may have been its own fault */
  bool attempted;    /* sent before */
} sp_tries;

void sp_retry_decide(sp_retry *out, const sp_retry_case *retry_case);

/* A random number for the next decision, from the system. */
uint64_t sp_retry_random(void);

#endif
