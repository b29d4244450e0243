#include "amount.h"

#include <math.h>
#include <stdio.h>

/* Number of standard deviations from the mean within which 95 % of the values
 * of a normal distribution lie. */
#define AMOUNT_QUANTILE 1.96

int64_t sp_amount_sum(int64_t a, int64_t b) {
  int64_t sum;

  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

void sp_amount_add(sp_amount *amount, const sp_amount *more) {
  amount->value = sp_amount_sum(amount->value, more->value);
  amount->samples = sp_amount_sum(amount->samples, more->samples);
}

void sp_amount_uncertainty(int64_t samples,
                           char out[SP_AMOUNT_UNCERTAINTY_BYTES]) {
  const double share = AMOUNT_QUANTILE / sqrt((double)samples);

  if (samples <= 0)
    out[0] = '\0';
  else if (samples < SP_AMOUNT_FEW)
    snprintf(out, SP_AMOUNT_UNCERTAINTY_BYTES, "?");
  else
    snprintf(out, SP_AMOUNT_UNCERTAINTY_BYTES,
             share < 0.1 ? "%.1f%%" : "%.0f%%", 100 * share);
}
