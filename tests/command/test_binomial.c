#include "check.h"
#include "command/shared/amount.h"
#include "command/report/binomial.h"

#include <math.h>

/* The expected values are sums of binomial probabilities, computed with exact
 * fractions. */
static void tails_equal_the_exact_sums(void) {
  static const struct {
    uint64_t k, n;
    double p, tail;
  } table[] = {
      {0, 5, 1.0 / 3, 1},
      {1, 1, 0.5, 0.5},
      {12, 14, 0.5, 0.0064697265625},
      {5, 5, 1.0 / 3, 0.00411522633744856},
      {3, 10, 0.1, 0.0701908264},
      {600, 1000, 0.5, 1.3642320780330092e-10},
      {450, 1000, 0.5, 0.999304129202789},
      {1400, 2000, 2.0 / 3, 0.0007790519593906293},
      {40, 50, 0.25, 5.203604458813607e-16},
      {6, 5, 0.5, 0},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    const double tail = sp_binomial_tail(table[i].k, table[i].n, table[i].p);

    CHECK(fabs(tail - table[i].tail) <= 1e-10 * table[i].tail);
  }
}

static void splits_are_judged_in_both_directions(void) {
  CHECK(fabs(sp_binomial_split(2, 12, 0.5) - 2 * 0.0064697265625) < 1e-12);
  CHECK(fabs(sp_binomial_split(12, 2, 0.5) - 2 * 0.0064697265625) < 1e-12);
  CHECK(sp_binomial_split(0, 0, 0.5) == 1);
  CHECK(sp_binomial_split(1000, 1000, 0.5) == 1);
  CHECK(sp_binomial_split(1000, 2000, 2.0 / 3) == 1);
  /* Counts of a year at 100 Hz do not overflow, and the computation ends. A
   * deviation of 5 standard deviations has a probability of 5.7e-7. */
  CHECK(fabs(sp_binomial_split(1500000000, 1500273861, 0.5) / 5.73e-7 - 1) <
        0.01);
}

static void uncertainty_is_printed_for_people(void) {
  static const struct {
    int64_t samples;
    const char *shown;
  } table[] = {{0, ""},      {1, "?"},     {9, "?"},       {10, "62%"},
               {100, "20%"}, {384, "10%"}, {1000, "6.2%"}, {1000000, "0.2%"}};
  char shown[SP_AMOUNT_UNCERTAINTY_BYTES];
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    sp_amount_uncertainty(table[i].samples, shown);
    CHECK_TEXT(shown, table[i].shown);
  }
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"tails equal the exact sums", tails_equal_the_exact_sums},
      {"splits are checked in both directions",
       splits_are_judged_in_both_directions},
      {"uncertainty is printed for people", uncertainty_is_printed_for_people},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
