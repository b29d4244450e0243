/* What is added up: a value, and how many samples it rests on. */
#ifndef SP_AMOUNT_H
#define SP_AMOUNT_H

#include "util/base.h"

typedef struct sp_amount {
  int64_t value;
  int64_t samples;
} sp_amount;

/* Saturating: profiles of others may hold anything. */
int64_t sp_amount_sum(int64_t a, int64_t b);

void sp_amount_add(sp_amount *amount, const sp_amount *more);

/* How sure a number of samples is, for people: the width in which 95 of 100
 * such counts lie around the true one, where samples fall independently,
 * "21%"; "?" below 10 samples, which are too few to rank; "" of none. */
#define SP_AMOUNT_FEW         10
#define SP_AMOUNT_DOUBT_BYTES 16
void sp_amount_doubt(int64_t samples, char out[SP_AMOUNT_DOUBT_BYTES]);

#endif
