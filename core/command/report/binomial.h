/* Tests whether two counts differ by more than chance.
 *
 * Counts of independent events are Poisson distributed. Given the sum n of two
 * counts with equal rates, the second count is binomially distributed over n
 * draws; the probability of a draw is the second's share of the time in which
 * both were counted (J. Przyborowski and H. Wilenski, Homogeneity of results in
 * testing samples from Poisson series, Biometrika 31, 1940). The test is exact:
 * for pairs of counts with equal rates, the result is p or less in at most a
 * share p of all pairs. If the number of samples of a run is fixed, counts vary
 * less than independent events, never more, so the test remains valid. */
#ifndef SP_BINOMIAL_H
#define SP_BINOMIAL_H

#include "util/base.h"

/* Returns P(X >= k), where X is the number of successes in n draws with
 * probability `p`, 0 < p < 1. */
double sp_binomial_tail(uint64_t k, uint64_t n, double p);

/* Returns the probability that chance splits a + b events at least as unevenly
 * as into a and b, in either direction, if the expected share of b is `share`
 * (0 to 1). Returns 1 if a and b are 0. */
double sp_binomial_split(uint64_t a, uint64_t b, double share);

#endif
