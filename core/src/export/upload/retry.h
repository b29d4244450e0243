/* Decides whether and when to send a profile again. The decision has no side
 * effects, so that a table of cases can test it.
 *
 * The answers of Pyroscope 3fe6a457a (2026-08-21) were recorded. This server
 * answers 500 while its storage starts, but also to a profile that it cannot
 * decode. It answers 429 if the rate of requests is too high for the moment,
 * but also to a profile that is too large. So after these answers, which the
 * upload itself may have caused (its "own fault"), it is sent only a few times.
 * If the server cannot be reached, the client waits until it works again. The
 * client also waits if new credentials, a new address or a new version of the
 * server can change the answer (rejected credentials, an unknown path, a
 * redirect, a captive portal; the failure is "repairable"), but then it sends
 * only one request in 30 to 60 s. */
#ifndef SP_RETRY_H
#define SP_RETRY_H

#include "util/base.h"

/* The server refuses profiles older than an hour (pyroscope v2.2.1,
 * pkg/validation/limits.go, reject-older-than), so a try after this age is
 * pointless. */
#define SP_RETRY_MAX_AGE_S 2700

typedef struct sp_retry_case {
  long status;        /* HTTP status; 0: there was no complete answer */
  bool not_pyroscope; /* 2xx, but not an answer of Pyroscope */
  /* Number of consecutive failures of any uploads, including this one; at least
   * 1. */
  uint32_t failures;
  /* Number of earlier answers that this upload itself may have caused. */
  uint32_t refusals;
  bool retry_after_given;
  uint64_t retry_after_ns; /* time to wait from now on */
  uint64_t age_ns;         /* age of the profile */
  uint64_t max_age_ns;
  uint64_t now_ns; /* monotonic */
  uint64_t random; /* all 64 bits are random */
} sp_retry_case;

typedef enum sp_retry_verdict {
  SP_RETRY_ACCEPTED,  /* the server has acknowledged the profile */
  SP_RETRY_AGAIN,     /* send the profile again, at at_ns */
  SP_RETRY_REFUSED,   /* the server will never accept the profile */
  SP_RETRY_EXHAUSTED, /* the profile was sent too often */
  SP_RETRY_EXPIRED,   /* the profile will be too old at at_ns */
} sp_retry_verdict;

typedef struct sp_retry {
  sp_retry_verdict verdict;
  uint64_t at_ns;     /* monotonic; no request is sent before this time */
  bool own_fault;     /* this upload may be the cause: send others first */
  bool is_limited;    /* 429 */
  bool is_repairable; /* see the top of this file */
  bool is_ordered;    /* the server set at_ns, or asked for fewer requests */
} sp_retry;

/* The age and the tries of a profile. The age is counted in monotonic time,
 * because with Unix time, a jump of the clock could make all waiting profiles
 * too old. Profiles that become too old while the machine sleeps are refused by
 * the server. */
typedef struct sp_tries {
  /* Start of the age, monotonic. May wrap below 0, because only differences are
   * used. */
  uint64_t began_ns;
  /* Monotonic; after an own fault, not sent before this time. */
  uint64_t retry_ns;
  uint32_t refusals; /* answers that the upload may have caused */
  bool attempted;    /* the profile was sent at least once */
} sp_tries;

void sp_retry_decide(sp_retry *out, const sp_retry_case *retry_case);

/* Return a random number from the system for the next decision. */
uint64_t sp_retry_random(void);

#endif
