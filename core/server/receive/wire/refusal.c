#include "refusal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/text/utf8.h"

#define REFUSAL_LOGGED_BYTES 300

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

void sp_refusal_prefix(sp_refusal *refusal, const char *prefix) {
  sp_buffer text = refusal->text;

  sp_buffer_init(&refusal->text, text.mem);
  sp_buffer_format(&refusal->text, "%s: %s", prefix,
                   text.size ? text.data : "");
  sp_buffer_dispose(&text);
}

void sp_refusal_log(sp_serve *serve, const char *path, const char *sentence) {
  char shown[REFUSAL_LOGGED_BYTES + 1];

  if (!sentence)
    sentence = "";
  shown[sp_utf8_printable(sentence, strlen(sentence), shown,
                          REFUSAL_LOGGED_BYTES)] = '\0';
  sp_log_warn(serve->log, SP_LOG_UPLOAD_REFUSED,
              "an upload to %.100s was refused: %s", path, shown);
}

const char *sp_refusal_text(const sp_refusal *refusal) {
  return refusal->text.size ? refusal->text.data : "";
}

spanprof_status sp_wire_status(const sp_wire *wire, const char *message,
                               sp_refusal *refusal) {
  switch (wire->fault) {
  case SP_WIRE_SOUND:
    return SPANPROF_OK;
  case SP_WIRE_CUT:
    return sp_refuse(refusal, SP_REFUSAL_BROKEN, "unexpected EOF");
  case SP_WIRE_BAD_TYPE:
    return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                     "proto: illegal wireType %" PRIu32, wire->fault_type);
  case SP_WIRE_END_GROUP:
    return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                     "proto: %s: wiretype end group for non-group", message);
  case SP_WIRE_WRONG_TYPE:
    return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                     "proto: wrong wireType = %" PRIu32 " for field %s",
                     wire->fault_type, wire->fault_field);
  case SP_WIRE_BAD_NUMBER:
    break;
  }
  return sp_refuse(refusal, SP_REFUSAL_BROKEN,
                   "proto: %s: a number or a field's tag is out of range",
                   message);
}
