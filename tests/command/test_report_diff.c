/* Tests that comparisons distinguish growth from chance, with many pairs of
 * profiles whose samples are drawn from known rates. */
#include "check.h"
#include "command/report/report_diff.h"

#include <math.h>

#define DIFF_NAMES  20
#define DIFF_PAIRS  1000
#define DIFF_PERIOD 10000000

/* A pseudo-random sequence, the same in every run (xorshift64*, Vigna 2016). */
static uint64_t draw_state = 88172645463325252u;

static double draw(void) {
  draw_state ^= draw_state >> 12;
  draw_state ^= draw_state << 25;
  draw_state ^= draw_state >> 27;
  return (double)((draw_state * 2685821657736338717u >> 11) + 1) / 0x1p53;
}

/* Draw from a Poisson distribution: count events until the sum of their
 * intervals exceeds `mean`. */
static int64_t draw_poisson(double mean) {
  int64_t count = -1;

  for (; mean > 0; count++)
    mean += log(draw());
  return count;
}

/* A profile with a number of samples for each span name. */
typedef struct drawn_profile {
  sp_pprof profile;
  sp_pprof_sample samples[DIFF_NAMES];
  sp_pprof_label labels[DIFF_NAMES];
  int64_t values[DIFF_NAMES];
} drawn_profile;

static char span_names[DIFF_NAMES][8];
static const sp_pprof_type cpu_type = {.type = "cpu", .unit = "nanoseconds"};

static void profile_of(drawn_profile *out, const int64_t *counts,
                       int64_t period) {
  size_t i;

  memset(out, 0, sizeof *out);
  for (i = 0; i < DIFF_NAMES; i++) {
    snprintf(span_names[i], sizeof span_names[i], "GET %zu", i);
    out->values[i] = counts[i] * period;
    out->labels[i] =
        (sp_pprof_label){.key = "span_name", .text = span_names[i]};
    out->samples[i] = (sp_pprof_sample){
        .values = &out->values[i], .labels = &out->labels[i], .label_count = 1};
  }
  out->profile = (sp_pprof){.types = &cpu_type,
                            .type_count = 1,
                            .samples = out->samples,
                            .sample_count = DIFF_NAMES,
                            .period_type = cpu_type,
                            .period = period};
}

/* Make a report of one profile with these numbers of samples. */
static void report_of(sp_report *report, const int64_t *counts,
                      int64_t period) {
  static const sp_report_options options;
  static drawn_profile drawn;

  profile_of(&drawn, counts, period);
  CHECK_EQUAL(sp_report_init(report, &sp_mem_default, &options), SPANPROF_OK);
  CHECK_EQUAL(sp_report_add(report, &drawn.profile, NULL), SPANPROF_OK);
}

/* The result of a comparison. */
typedef struct diff_found {
  size_t grown;
  double least_p;
  bool first_grew; /* the span name "GET 0" grew */
} diff_found;

static diff_found found_in(const int64_t *base_counts,
                           const int64_t *now_counts, int64_t now_period,
                           double fail_above, bool normalize) {
  diff_found found = {.least_p = 1};
  sp_report base, now;
  sp_diff diff = {
      .base = &base, .now = &now, .scale = 1, .fail_above = fail_above};
  sp_diff_row *rows;
  size_t i, count;

  report_of(&base, base_counts, DIFF_PERIOD);
  report_of(&now, now_counts, now_period);
  if (normalize)
    diff.scale = (double)now.selected.value / (double)base.selected.value;
  CHECK_EQUAL(sp_diff_rows(&diff, SP_REPORT_SPAN_NAMES, &rows, &count),
              SPANPROF_OK);
  for (i = 0; i < count; i++) {
    const bool grew = sp_diff_grew(&diff, &rows[i]);

    found.grown += grew;
    found.least_p = fmin(found.least_p, rows[i].p);
    found.first_grew =
        found.first_grew || (grew && rows[i].name_bytes == 5 &&
                             memcmp(rows[i].name, "GET 0", 5) == 0);
  }
  sp_mem_free(&sp_mem_default, rows);
  sp_report_dispose(&base);
  sp_report_dispose(&now);
  return found;
}

/* Returns the sample rate of a span name. As in an application, a few names
 * have high rates, and many have low ones. */
static double rate(size_t name) {
  return 200 / (1 + (double)name);
}

/* Draw a fixed number of samples, each of a name according to its rate. */
static void draw_multinomial(int64_t *counts, size_t samples) {
  double sum = 0, at;
  size_t i, name;

  memset(counts, 0, DIFF_NAMES * sizeof *counts);
  for (i = 0; i < DIFF_NAMES; i++)
    sum += rate(i);
  for (i = 0; i < samples; i++) {
    at = draw() * sum;
    for (name = 0; name + 1 < DIFF_NAMES && at > rate(name); name++)
      at -= rate(name);
    counts[name]++;
  }
}

static void draw_counts(int64_t *counts, double factor, bool fixed) {
  size_t i;

  if (fixed) {
    draw_multinomial(counts, (size_t)(720 * factor));
    return;
  }
  for (i = 0; i < DIFF_NAMES; i++)
    counts[i] = draw_poisson(rate(i) * factor);
}

/* With --fail-above 0%, all growth by more than chance counts. No growth is
 * reported for 1,000 pairs of profiles with equal rates. The values of p are
 * right, too: at most 9 pairs have a p of 0.001 or less. If p is right, there
 * are more than 9 such pairs with a probability of 1e-6. */
static void equal_pairs_are_not_reported(void) {
  static const struct {
    bool fixed;
    int64_t now_period;
    bool normalize;
  } table[] = {{false, DIFF_PERIOD, false},
               {true, DIFF_PERIOD, false},
               {false, DIFF_PERIOD / 4, false},
               {true, DIFF_PERIOD, true}};
  int64_t base[DIFF_NAMES], now[DIFF_NAMES];
  size_t i, pair, unlikely;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    unlikely = 0;
    for (pair = 0; pair < DIFF_PAIRS; pair++) {
      diff_found found;

      draw_counts(base, 1, table[i].fixed);
      draw_counts(now,
                  (double)DIFF_PERIOD / (double)table[i].now_period *
                      (table[i].normalize ? 2 : 1),
                  table[i].fixed);
      found = found_in(base, now, table[i].now_period, 0, table[i].normalize);
      CHECK_EQUAL(found.grown, 0);
      unlikely += found.least_p <= 1e-3;
    }
    CHECK(unlikely <= 9);
  }
}

/* Growth from 1,600 samples by 50 % is at least twelve standard deviations in
 * nearly every pair, so it is always found. Growth from one sample to three may
 * be chance, so it is not reported. */
static void growth_by_more_than_chance_is_found(void) {
  int64_t base[DIFF_NAMES], now[DIFF_NAMES];
  size_t pair, seen = 0;

  for (pair = 0; pair < 100; pair++) {
    diff_found found;

    draw_counts(base, 8, false);
    draw_counts(now, 8, false);
    now[0] = draw_poisson(8 * rate(0) * 1.5);
    found = found_in(base, now, DIFF_PERIOD, 0.1, false);
    CHECK_EQUAL(found.grown, found.first_grew);
    seen += found.first_grew;
    /* The growth is less than a limit of 100 %. */
    CHECK_EQUAL(found_in(base, now, DIFF_PERIOD, 1, false).grown, 0);
  }
  CHECK_EQUAL(seen, 100);
  memset(base, 0, sizeof base);
  memset(now, 0, sizeof now);
  base[0] = base[1] = now[1] = 1000;
  base[2] = 1;
  now[2] = 3;
  CHECK_EQUAL(found_in(base, now, DIFF_PERIOD, 0.1, false).grown, 0);
  /* A new name grows by more than chance. */
  now[3] = 200;
  CHECK_EQUAL(found_in(base, now, DIFF_PERIOD, 0.1, false).grown, 1);
  /* Twice as much of everything does not change the shares. */
  now[0] = now[1] = 2000;
  base[0] = base[1] = 1000;
  now[2] = base[2] = now[3] = 0;
  CHECK_EQUAL(found_in(base, now, DIFF_PERIOD, 0.1, false).grown, 2);
  CHECK_EQUAL(found_in(base, now, DIFF_PERIOD, 0.1, true).grown, 0);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"equal pairs are not reported", equal_pairs_are_not_reported},
      {"growth by more than chance is found",
       growth_by_more_than_chance_is_found},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
