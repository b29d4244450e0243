#include "cancel.h"

#include "util/system/clock.h"
#include "util/system/status.h"

void sp_cancel_because(sp_cancel *cancel, sp_cancel_reason reason) {
  uint32_t none = SP_CANCEL_NONE;

  atomic_compare_exchange_strong(&cancel->reason, &none, reason);
}

void sp_cancel_by(sp_cancel *cancel, uint64_t deadline_ns) {
  if (!cancel->deadline_ns || deadline_ns < cancel->deadline_ns)
    cancel->deadline_ns = deadline_ns;
}

bool sp_cancelled(sp_cancel *cancel) {
  if (!cancel)
    return false;
  if (cancel->deadline_ns && sp_monotonic_ns() > cancel->deadline_ns)
    sp_cancel_because(cancel, SP_CANCEL_DEADLINE);
  return atomic_load(&cancel->reason) != SP_CANCEL_NONE;
}

spanprof_status sp_cancel_check(sp_cancel *cancel) {
  return sp_cancelled(cancel)
             ? sp_fail(SPANPROF_ERR_TIMEOUT, "the query was cancelled")
             : SPANPROF_OK;
}
