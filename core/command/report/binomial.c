#include "binomial.h"

#include <math.h>

/* Largest number of steps of the continued fraction. It converges in about
 * sqrt(max(a, b)) steps (NIST DLMF 8.17.22), so this is enough for counts of
 * 10^12. */
#define BINOMIAL_STEPS_MAX 2000000
#define BINOMIAL_TINY      1e-300
#define BINOMIAL_EXACT     1e-14

static double binomial_not_zero(double x) {
  return fabs(x) < BINOMIAL_TINY ? BINOMIAL_TINY : x;
}

/* Returns the continued fraction of NIST DLMF 8.17.22, computed by Lentz's
 * method (DLMF 3.10(iii)). */
static double binomial_fraction(double a, double b, double x) {
  double c = 1, d = 1 / binomial_not_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  int i;

  for (i = 1; i < BINOMIAL_STEPS_MAX; i++) {
    const double m = i;
    double step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));

    d = 1 / binomial_not_zero(1 + step * d);
    c = binomial_not_zero(1 + step / c);
    result *= d * c;
    step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / binomial_not_zero(1 + step * d);
    c = binomial_not_zero(1 + step / c);
    result *= d * c;
    if (fabs(d * c - 1) < BINOMIAL_EXACT)
      break;
  }
  return result;
}

/* Returns the regularized incomplete beta function. */
static double binomial_beta(double a, double b, double x) {
  const double front =
      exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

  if (x < (a + 1) / (a + b + 2))
    return front * binomial_fraction(a, b, x) / a;
  return 1 - front * binomial_fraction(b, a, 1 - x) / b;
}

double sp_binomial_tail(uint64_t k, uint64_t n, double p) {
  if (k == 0)
    return 1;
  if (k > n)
    return 0;
  /* The tail of the binomial distribution as an incomplete beta function: NIST
   * DLMF 8.17.5. */
  return binomial_beta((double)k, (double)(n - k) + 1, p);
}

double sp_binomial_split(uint64_t a, uint64_t b, double share) {
  const uint64_t n = a + b;
  double more, less;

  if (n == 0 || share <= 0 || share >= 1)
    return 1;
  more = sp_binomial_tail(b, n, share);
  less = sp_binomial_tail(a, n, 1 - share);
  return fmin(1, 2 * fmin(more, less));
}
