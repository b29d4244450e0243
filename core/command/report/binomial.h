/* Whether two counts differ by more than chance.
 *
 * Counts of independent events are Poisson distributed; of two such counts with
 * equal rates, the second is, given their sum n, binomially distributed, with
 * the second's share of the exposure as probability (J. Przyborowski and H.
 * Wilenski, Homogeneity of results in testing samples from Poisson series,
 * Biometrika 31, 1940). The test is exact: with equal rates it finds p or less
 * in p of all pairs at most. Samples of a timer that are drawn without
 * replacement (of one run's fixed number) scatter less, never more. */
#ifndef SP_BINOMIAL_H
#define SP_BINOMIAL_H

#include "util/base.h"

/* P(X >= k) of n draws with probability `p`, 0 < p < 1. */
double sp_binomial_tail(uint64_t k, uint64_t n, double p);

/* The probability of a split of a + b as uneven as this one or more, in either
 * direction, where b expects `share` (0 to 1) of both. 1 where there is
 * nothing. */
double sp_binomial_split(uint64_t a, uint64_t b, double share);

#endif
