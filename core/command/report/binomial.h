/* Tests whether two counts differ by more than chance.
 *
 * Counts of independent events are Poisson distributed. If two counts have
 * equal rates, the second count is, given their sum n, binomially distributed,
 * with the second's share of the exposure as probability (J. Przyborowski and
 * H. Wilenski, Homogeneity of results in testing samples from Poisson series,
 * Biometrika 31, 1940). The test is exact: with equal rates, it returns p or
 * less for at most a share p of all pairs. Samples of a timer that are drawn
 * without replacement (a fixed number in one run) vary less, never more. */
#ifndef SP_BINOMIAL_H
#define SP_BINOMIAL_H

#include "util/base.h"

/* P(X >= k) for n draws with probability `p`, 0 < p < 1. */
double sp_binomial_tail(uint64_t k, uint64_t n, double p);

/* Returns the probability that a + b events are split at least as unevenly, in
 * either direction, if the expected share of b is `share` (0 to 1). Returns 1
 * if a and b are 0. */
double sp_binomial_split(uint64_t a, uint64_t b, double share);

#endif
