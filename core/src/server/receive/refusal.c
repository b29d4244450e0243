#include "refusal.h"

#include <stdarg.h>
#include <stdio.h>

void sp_refusal_init(sp_refusal *refusal, const sp_mem *mem) {
  refusal->kind = SP_REFUSAL_NONE;
  sp_buffer_init(&refusal->text, mem);
}

void sp_refusal_dispose(sp_refusal *refusal) {
  sp_buffer_dispose(&refusal->text);
}

spanprof_status sp_refuse(sp_refusal *refusal, sp_refusal_kind kind,
                          const char *format, ...) {
  va_list arguments, again;
  int size;

  if (refusal->kind != SP_REFUSAL_NONE)
    return SPANPROF_ERR_FORMAT;
  refusal->kind = kind;
  va_start(arguments, format);
  va_copy(again, arguments);
  size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (size > 0 && sp_buffer_reserve(&refusal->text, (size_t)size + 1)) {
    vsnprintf(refusal->text.data, (size_t)size + 1, format, again);
    refusal->text.size = (size_t)size;
  }
  va_end(again);
  return SPANPROF_ERR_FORMAT;
}

const char *sp_refusal_text(const sp_refusal *refusal) {
  return refusal->text.size ? refusal->text.data : "";
}
