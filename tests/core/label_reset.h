/* Resets labels and spans to their state in a new process, for tests in which
 * allocations fail. */
#ifndef LABEL_RESET_H
#define LABEL_RESET_H

#include <string.h>

#include "label/context.h"
#include "label/label_node.h"
#include "label/text.h"
#include "label/tls.h"
#include "span/span.h"
#include "span/span_name.h"
#include "span/span_table.h"

/* Remove every text, label set and span name, and allocate from `mem` from now
 * on (NULL: the C library). No other thread may use labels or spans, and no
 * span may be live. */
static inline void label_reset(const sp_mem *mem) {
  sp_self *self = sp_tls_get();
  int i;

  if (self) {
    memset(&self->cache, 0, sizeof self->cache);
    /* Also reset the last span, which is stored for samples at the thread's
     * end. */
    sp_context_remember(self, 0, 0, 0);
  }
  /* An ended span stays for two sweeps, and each generation of its ancestors
   * for one more. */
  for (i = 0; i < 8; i++)
    sp_span_sweep();
  sp_text_reset(mem);
  sp_label_node_reset();
  sp_span_name_reset(mem);
  sp_span_table_reset(mem);
}

#endif
