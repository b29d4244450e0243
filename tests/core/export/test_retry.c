#include "export/upload/retry.h"

#include "check.h"

static sp_retry_case usual_case(long status) {
  sp_retry_case retry_case = {.status = status,
                              .failures = 1,
                              .max_age_ns = SP_RETRY_MAX_AGE_S * SP_NS_PER_S,
                              .now_ns = 1000 * SP_NS_PER_S};

  return retry_case;
}

static sp_retry decide(sp_retry_case retry_case) {
  sp_retry retry;

  sp_retry_decide(&retry, &retry_case);
  return retry;
}

static double wait_s(const sp_retry *retry) {
  return ((double)retry->at_ns - 1000e9) / 1e9;
}

static void every_status_has_its_verdict(void) {
  /* For each status, the verdict after the first request of an upload, and the
   * verdict after 100 requests with this answer. */
  static const struct {
    long status;
    sp_retry_verdict first, hundredth;
  } rows[] = {
      {200, SP_RETRY_ACCEPTED, SP_RETRY_ACCEPTED},
      {202, SP_RETRY_ACCEPTED, SP_RETRY_ACCEPTED},
      {204, SP_RETRY_ACCEPTED, SP_RETRY_ACCEPTED},
      {301, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {302, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {307, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {400, SP_RETRY_REFUSED, SP_RETRY_REFUSED},
      {401, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {403, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {404, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {405, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {407, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {408, SP_RETRY_AGAIN, SP_RETRY_EXHAUSTED},
      {413, SP_RETRY_REFUSED, SP_RETRY_REFUSED},
      {415, SP_RETRY_REFUSED, SP_RETRY_REFUSED},
      {422, SP_RETRY_REFUSED, SP_RETRY_REFUSED},
      {429, SP_RETRY_AGAIN, SP_RETRY_EXHAUSTED},
      {499, SP_RETRY_AGAIN, SP_RETRY_EXHAUSTED},
      {500, SP_RETRY_AGAIN, SP_RETRY_EXHAUSTED},
      {501, SP_RETRY_REFUSED, SP_RETRY_REFUSED},
      {502, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {503, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {504, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {511, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {0, SP_RETRY_AGAIN, SP_RETRY_AGAIN},
      {999, SP_RETRY_AGAIN, SP_RETRY_EXHAUSTED},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    sp_retry_case retry_case = usual_case(rows[i].status);

    CHECK_EQUAL(decide(retry_case).verdict, rows[i].first);
    retry_case.refusals = 99;
    CHECK_EQUAL(decide(retry_case).verdict, rows[i].hundredth);
  }
}

static void limited_uploads_get_eight_tries(void) {
  sp_retry_case retry_case = usual_case(429);

  retry_case.refusals = 6;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_AGAIN);
  CHECK(decide(retry_case).own_fault);
  CHECK(decide(retry_case).is_limited);
  retry_case.refusals = 7;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_EXHAUSTED);
  /* If the answer has Retry-After, the server is the reason for the wait, and
   * the number of tries is not limited. */
  retry_case.retry_after_given = true;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_AGAIN);
  CHECK(!decide(retry_case).own_fault);
}

static void a_500_gets_five_tries(void) {
  sp_retry_case retry_case = usual_case(500);

  retry_case.refusals = 3;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_AGAIN);
  retry_case.refusals = 4;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_EXHAUSTED);
}

static void repairable_failures_are_retried_slowly(void) {
  static const long statuses[] = {301, 401, 403, 404, 405, 407, 511, 200};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(statuses); i++) {
    sp_retry_case retry_case = usual_case(statuses[i]);
    sp_retry retry;

    retry_case.not_pyroscope = statuses[i] == 200;
    retry = decide(retry_case);
    CHECK_EQUAL(retry.verdict, SP_RETRY_AGAIN);
    CHECK(retry.is_repairable && !retry.own_fault);
    CHECK(wait_s(&retry) == 30);
    retry_case.random = 30 * SP_NS_PER_S;
    retry = decide(retry_case);
    CHECK(wait_s(&retry) == 60);
    retry_case.age_ns = 2700 * SP_NS_PER_S;
    CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_EXPIRED);
  }
}

static void backoffs_grow_and_are_random(void) {
  static const double ceilings_s[] = {1, 2, 4, 8, 10, 10, 10};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(ceilings_s); i++) {
    sp_retry_case retry_case = usual_case(503);
    double shortest_s = 1e9, longest_s = 0;
    int n;

    retry_case.failures = (uint32_t)i + 1;
    for (n = 0; n < 1000; n++) {
      sp_retry retry;

      retry_case.random = (uint64_t)n * UINT64_C(0x9e3779b97f4a7c15);
      retry = decide(retry_case);
      if (wait_s(&retry) < shortest_s)
        shortest_s = wait_s(&retry);
      if (wait_s(&retry) > longest_s)
        longest_s = wait_s(&retry);
    }
    CHECK(shortest_s >= 0.5 && shortest_s < 0.6);
    CHECK(longest_s <= ceilings_s[i] && longest_s > 0.9 * ceilings_s[i]);
  }
}

static void backoffs_are_limited_after_many_failures(void) {
  sp_retry_case retry_case = usual_case(0);
  sp_retry retry;

  retry_case.failures = UINT32_MAX;
  retry_case.random = UINT64_MAX;
  retry = decide(retry_case);
  CHECK(wait_s(&retry) >= 0.5 && wait_s(&retry) <= 10);
}

static void retry_after_is_honoured_up_to_300_s(void) {
  static const long statuses[] = {429, 503};
  size_t i;

  for (i = 0; i < SP_COUNT_OF(statuses); i++) {
    sp_retry_case retry_case = usual_case(statuses[i]);
    sp_retry retry;

    retry_case.retry_after_given = true;
    retry_case.retry_after_ns = 120 * SP_NS_PER_S;
    retry = decide(retry_case);
    CHECK(wait_s(&retry) == 120);
    retry_case.retry_after_ns = 100000 * SP_NS_PER_S;
    retry = decide(retry_case);
    CHECK(wait_s(&retry) == 300);
    retry_case.retry_after_ns = 0;
    retry = decide(retry_case);
    CHECK(wait_s(&retry) >= 0.5);
  }
}

static void old_profiles_expire(void) {
  sp_retry_case retry_case = usual_case(503);

  retry_case.age_ns = 2600 * SP_NS_PER_S;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_AGAIN);
  retry_case.age_ns = 2700 * SP_NS_PER_S;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_EXPIRED);
  /* At the time that the server has set, the profile will be too old. */
  retry_case.age_ns = 2600 * SP_NS_PER_S;
  retry_case.retry_after_given = true;
  retry_case.retry_after_ns = 200 * SP_NS_PER_S;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_EXPIRED);
  /* A profile that the server accepts may have any age. */
  retry_case.status = 200;
  CHECK_EQUAL(decide(retry_case).verdict, SP_RETRY_ACCEPTED);
}

static void the_systems_random_numbers_differ(void) {
  CHECK(sp_retry_random() != sp_retry_random());
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"every_status_has_its_verdict", every_status_has_its_verdict},
      {"limited_uploads_get_eight_tries", limited_uploads_get_eight_tries},
      {"a_500_gets_five_tries", a_500_gets_five_tries},
      {"repairable_failures_are_retried_slowly",
       repairable_failures_are_retried_slowly},
      {"backoffs_grow_and_are_random", backoffs_grow_and_are_random},
      {"backoffs_are_limited_after_many_failures",
       backoffs_are_limited_after_many_failures},
      {"retry_after_is_honoured_up_to_300_s",
       retry_after_is_honoured_up_to_300_s},
      {"old_profiles_expire", old_profiles_expire},
      {"the_systems_random_numbers_differ", the_systems_random_numbers_differ},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
