#include "retry.h"

#include <sys/random.h>

#include "util/memory/hash.h"
#include "util/system/clock.h"

/* The first backoff is a random time of 0.5 to 1 s. With each failure, the
 * upper limit doubles, up to 10 s. The random times cover the whole range, so
 * that the requests of many clients spread out when the server works again
 * ("full jitter", AWS Architecture Blog, "Exponential Backoff And Jitter",
 * 2015). */
#define RETRY_FLOOR_NS      (SP_NS_PER_S / 2)
#define RETRY_CEILING_NS    (10 * SP_NS_PER_S)
#define RETRY_AFTER_MAX_NS  (300 * SP_NS_PER_S)
#define RETRY_REPAIRABLE_NS (60 * SP_NS_PER_S)
#define RETRY_MAX_LIMITED   8
#define RETRY_MAX_OWN_FAULT 5
#define RETRY_MAX_DOUBLINGS 5

typedef enum retry_class {
  RETRY_CLASS_ACCEPTED,
  RETRY_CLASS_UNREACHABLE, /* the server may work again later */
  RETRY_CLASS_LIMITED,
  RETRY_CLASS_REPAIRABLE,
  RETRY_CLASS_OWN_FAULT,
  RETRY_CLASS_REFUSED,
} retry_class;

static retry_class retry_class_of(long status, bool not_pyroscope) {
  switch (status) {
  case 0:
  case 502:
  case 503:
  case 504:
    return RETRY_CLASS_UNREACHABLE;
  case 429:
    return RETRY_CLASS_LIMITED;
  case 401:
  case 403:
  case 404:
  case 405: /* answer of a server that only has web pages */
  case 407:
  case 511: /* answer of a captive portal (RFC 6585) */
    return RETRY_CLASS_REPAIRABLE;
  case 408: /* Pyroscope on /ingest: incomplete body */
  case 499: /* Pyroscope on Push: incomplete body */
    return RETRY_CLASS_OWN_FAULT;
  case 501:
    return RETRY_CLASS_REFUSED;
  default:
    break;
  }
  if (status >= 200 && status < 300 && !not_pyroscope)
    return RETRY_CLASS_ACCEPTED;
  if (status >= 200 && status < 400)
    return RETRY_CLASS_REPAIRABLE;
  return status >= 500 ? RETRY_CLASS_OWN_FAULT : RETRY_CLASS_REFUSED;
}

static uint64_t retry_backoff_ns(uint32_t failures, uint64_t random) {
  uint32_t doublings =
      failures < RETRY_MAX_DOUBLINGS ? failures : RETRY_MAX_DOUBLINGS;
  uint64_t ceiling_ns =
      sp_min_u64(RETRY_FLOOR_NS << doublings, RETRY_CEILING_NS);

  return RETRY_FLOOR_NS + random % (ceiling_ns - RETRY_FLOOR_NS + 1);
}

/* Return a random time between half of RETRY_REPAIRABLE_NS and
 * RETRY_REPAIRABLE_NS, so that the requests of many clients spread out. */
static uint64_t retry_repairable_ns(uint64_t random) {
  return RETRY_REPAIRABLE_NS / 2 + random % (RETRY_REPAIRABLE_NS / 2 + 1);
}

static bool retry_tries_left(const sp_retry_case *retry_case,
                             retry_class class) {
  if (class == RETRY_CLASS_LIMITED)
    return retry_case->retry_after_given ||
           retry_case->refusals + 1 < RETRY_MAX_LIMITED;
  if (class == RETRY_CLASS_OWN_FAULT)
    return retry_case->refusals + 1 < RETRY_MAX_OWN_FAULT;
  return true;
}

void sp_retry_decide(sp_retry *out, const sp_retry_case *retry_case) {
  retry_class class =
      retry_class_of(retry_case->status, retry_case->not_pyroscope);
  uint64_t wait_ns;

  out->at_ns = retry_case->now_ns;
  out->is_limited = class == RETRY_CLASS_LIMITED;
  out->is_repairable = class == RETRY_CLASS_REPAIRABLE;
  out->is_ordered = out->is_limited || retry_case->retry_after_given;
  out->own_fault = class == RETRY_CLASS_OWN_FAULT ||
                   (out->is_limited && !retry_case->retry_after_given);
  if (class == RETRY_CLASS_ACCEPTED || class == RETRY_CLASS_REFUSED) {
    out->verdict =
        class == RETRY_CLASS_ACCEPTED ? SP_RETRY_ACCEPTED : SP_RETRY_REFUSED;
    return;
  }
  wait_ns = out->is_repairable
                ? retry_repairable_ns(retry_case->random)
                : retry_backoff_ns(retry_case->failures, retry_case->random);
  if (retry_case->retry_after_given)
    wait_ns = sp_max_u64(
        wait_ns, sp_min_u64(retry_case->retry_after_ns, RETRY_AFTER_MAX_NS));
  out->at_ns = retry_case->now_ns + wait_ns;
  if (!retry_tries_left(retry_case, class))
    out->verdict = SP_RETRY_EXHAUSTED;
  else if (retry_case->age_ns + wait_ns >= retry_case->max_age_ns)
    out->verdict = SP_RETRY_EXPIRED;
  else
    out->verdict = SP_RETRY_AGAIN;
}

uint64_t sp_retry_random(void) {
  uint64_t random;

  /* Some sandboxes refuse getrandom(). Then the nanoseconds of the clock are
   * used, which spread clients enough. */
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = sp_hash_mix(SP_HASH_SEED, sp_monotonic_ns());
  return random;
}
