/* A sum: a value, and the number of samples that it consists of. */
#ifndef SP_AMOUNT_H
#define SP_AMOUNT_H

#include "util/base.h"

typedef struct sp_amount {
  int64_t value;
  int64_t samples;
} sp_amount;

/* Saturating addition, because profiles of other programs may have any values.
 */
int64_t sp_amount_sum(int64_t a, int64_t b);

void sp_amount_add(sp_amount *amount, const sp_amount *more);

/* Print the statistical uncertainty of a number of samples, "21%": if samples
 * are independent, 95 of 100 such counts are within this distance of the true
 * count. Prints "?" for fewer than SP_AMOUNT_FEW samples, which are too few to
 * rank, and "" for 0. */
#define SP_AMOUNT_FEW               10
#define SP_AMOUNT_UNCERTAINTY_BYTES 16
void sp_amount_uncertainty(int64_t samples,
                           char out[SP_AMOUNT_UNCERTAINTY_BYTES]);

#endif
