/* A sum of samples: their value and their number. */
#ifndef SP_AMOUNT_H
#define SP_AMOUNT_H

#include "util/base.h"

typedef struct sp_amount {
  int64_t value;
  int64_t samples;
} sp_amount;

/* Returns a + b, limited to the range of int64_t, because profiles of other
 * programs may have any values. */
int64_t sp_amount_sum(int64_t a, int64_t b);

void sp_amount_add(sp_amount *amount, const sp_amount *more);

/* Write the statistical uncertainty of a number of samples to `out`, for
 * example "21%". If samples are independent, 95 of 100 such counts differ from
 * the true count by at most this share. Writes "?" for fewer than SP_AMOUNT_FEW
 * samples, which are too few to rank, and "" for 0. */
#define SP_AMOUNT_FEW               10
#define SP_AMOUNT_UNCERTAINTY_BYTES 16
void sp_amount_uncertainty(int64_t samples,
                           char out[SP_AMOUNT_UNCERTAINTY_BYTES]);

#endif
