#include <spanprof/spanprof.h>
#include <string.h>

#include "util/system/status.h"

spanprof_status spanprof_span_start_named(const char *name,
                                          spanprof_span *out) {
  spanprof_span_info info = {.struct_size = sizeof info, .name = name};

  *out = 0;
  if (!name)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "the span's name is NULL");
  info.name_bytes = strlen(name);
  return spanprof_span_start(NULL, &info, out);
}

spanprof_span_scope spanprof_span_scope_begin(const char *name) {
  spanprof_span_scope scope = {0, 0};

  if (spanprof_span_start_named(name, &scope.span) ||
      !spanprof_span_enter(scope.span, &scope.token))
    return scope;
  spanprof_span_end(scope.span);
  scope.span = 0;
  return scope;
}

void spanprof_span_scope_end(spanprof_span_scope *scope) {
  if (scope->span == 0)
    return;
  spanprof_span_leave(scope->token);
  spanprof_span_end(scope->span);
  scope->span = 0;
}
