#include "otlp_spans.h"

#include "otlp_attributes.h"
#include "server/receive/profile/raw_profile.h"
#include "server/receive/wire/hex_id.h"
#include "util/text/utf8.h"

#define TRACE_SPAN_ID_BYTES  8
#define TRACE_TRACE_ID_BYTES 16
#define TRACE_STATUS_MAX     2
#define TRACE_UNKNOWN        "unknown_service"

/* Numbers of the fields of the request and of Span. */
enum {
  TRACE_REQUEST_RESOURCES = 1,
  TRACE_RESOURCE = 1,
  TRACE_SCOPES = 2,
  TRACE_SPANS = 2,
  TRACE_RESOURCE_ATTRIBUTES = 1,
  TRACE_SPAN_TRACE = 1,
  TRACE_SPAN_ID = 2,
  TRACE_SPAN_PARENT = 4,
  TRACE_SPAN_NAME = 5,
  TRACE_SPAN_KIND = 6,
  TRACE_SPAN_START = 7,
  TRACE_SPAN_END = 8,
  TRACE_SPAN_ATTRIBUTES = 9,
  TRACE_SPAN_STATUS = 15,
  TRACE_STATUS_MESSAGE = 2,
  TRACE_STATUS_CODE = 3
};

/* The state of the reader. The request is read twice: the first time,
 * out->spans is NULL and the spans are only counted. */
typedef struct trace_reader {
  sp_otlp_spans *out;
  sp_refusal *refusal;
  const char *service;  /* service.name of the current resource */
  const char *resource; /* attributes of the current resource */
  size_t counted;
} trace_reader;

void sp_otlp_spans_init(sp_otlp_spans *spans, const sp_mem *mem) {
  *spans = (sp_otlp_spans){.from_ns = INT64_MIN, .until_ns = INT64_MAX};
  sp_arena_init(&spans->arena, mem, SP_OTLP_SPANS_MEMORY_MAX);
}

void sp_otlp_spans_dispose(sp_otlp_spans *spans) {
  sp_arena_dispose(&spans->arena);
}

/* Copy a text, add a NUL at its end, and replace invalid UTF-8. */
static spanprof_status trace_copy(trace_reader *reader, sp_view text,
                                  const char **out) {
  spanprof_status st;
  bool changed;
  char *copy;

  st =
      sp_raw_new(&reader->out->arena, text.size + 1, 1, &copy, reader->refusal);
  if (st)
    return st;
  if (text.size)
    copy[sp_utf8_clean(text.bytes, text.size, copy, text.size, &changed)] =
        '\0';
  *out = copy;
  return SPANPROF_OK;
}

static spanprof_status trace_attributes(trace_reader *reader, sp_view owner,
                                        uint32_t number, const char *resource,
                                        const char **out) {
  spanprof_status st;
  sp_buffer text;

  sp_buffer_init(&text, reader->out->arena.mem);
  st = sp_otlp_attributes(owner, number, resource, &text, reader->refusal);
  if (!st)
    st = trace_copy(reader, sp_view_of(text.data, text.size), out);
  sp_buffer_dispose(&text);
  return st;
}

static bool trace_field_bytes(sp_wire *wire, const sp_wire_field *field,
                              sp_view *out) {
  *out = field->bytes;
  return sp_wire_require(wire, field, SP_WIRE_BYTES, "a span's field");
}

typedef struct trace_raw {
  sp_view trace, id, parent, name, status;
  uint64_t kind, start, end;
} trace_raw;

static bool trace_raw_field(sp_wire *wire, const sp_wire_field *field,
                            trace_raw *out) {
  switch (field->number) {
  case TRACE_SPAN_TRACE:
    return trace_field_bytes(wire, field, &out->trace);
  case TRACE_SPAN_ID:
    return trace_field_bytes(wire, field, &out->id);
  case TRACE_SPAN_PARENT:
    return trace_field_bytes(wire, field, &out->parent);
  case TRACE_SPAN_NAME:
    return trace_field_bytes(wire, field, &out->name);
  case TRACE_SPAN_STATUS:
    return trace_field_bytes(wire, field, &out->status);
  case TRACE_SPAN_KIND:
    out->kind = field->value;
    return sp_wire_require(wire, field, SP_WIRE_NUMBER, "kind");
  case TRACE_SPAN_START:
    out->start = field->value;
    return sp_wire_require(wire, field, SP_WIRE_FIXED64,
                           "start_time_unix_nano");
  case TRACE_SPAN_END:
    out->end = field->value;
    return sp_wire_require(wire, field, SP_WIRE_FIXED64, "end_time_unix_nano");
  }
  return true;
}

/* Returns whether the span's end is in the window from_ns to until_ns. Its
 * start may be earlier, because spans can be long. */
static bool trace_is_in_window(const sp_otlp_spans *spans,
                               const sp_store_span *span) {
  int64_t end_ns;

  if (__builtin_add_overflow(span->start_ns, span->duration_ns, &end_ns))
    return false;
  return end_ns >= spans->from_ns && end_ns <= spans->until_ns;
}

/* Convert the ids and times of a span. Returns false if they are missing or
 * invalid. */
static bool trace_place(const trace_raw *raw, sp_store_span *out) {
  if (raw->trace.size != TRACE_TRACE_ID_BYTES ||
      raw->id.size != TRACE_SPAN_ID_BYTES || !raw->start ||
      raw->start > INT64_MAX)
    return false;
  out->trace_id.hi = sp_hex_from_bytes(raw->trace.bytes);
  out->trace_id.lo = sp_hex_from_bytes(raw->trace.bytes + TRACE_SPAN_ID_BYTES);
  out->span_id = sp_hex_from_bytes(raw->id.bytes);
  if (raw->parent.size == TRACE_SPAN_ID_BYTES)
    out->parent_id = sp_hex_from_bytes(raw->parent.bytes);
  out->start_ns = (int64_t)raw->start;
  if (raw->end > raw->start && raw->end <= INT64_MAX)
    out->duration_ns = (int64_t)(raw->end - raw->start);
  out->kind = raw->kind <= INT32_MAX ? (int32_t)raw->kind : 0;
  return out->span_id && (out->trace_id.hi || out->trace_id.lo);
}

static spanprof_status trace_status(trace_reader *reader, sp_view message,
                                    sp_store_span *out) {
  sp_wire wire = sp_wire_of(message);
  sp_view text = sp_view_of("", 0);
  sp_wire_field field;

  while (sp_wire_next(&wire, &field)) {
    if (field.number == TRACE_STATUS_MESSAGE && field.type == SP_WIRE_BYTES)
      text = field.bytes;
    else if (field.number == TRACE_STATUS_CODE &&
             field.value <= TRACE_STATUS_MAX)
      out->status = (int32_t)field.value;
  }
  return trace_copy(reader, text, &out->status_message);
}

static spanprof_status trace_span(trace_reader *reader, sp_view message) {
  sp_otlp_spans *spans = reader->out;
  sp_wire wire = sp_wire_of(message);
  sp_store_span *out;
  trace_raw raw = {.kind = 0};
  spanprof_status st;
  sp_wire_field field;

  if (!spans->spans) {
    reader->counted++;
    return SPANPROF_OK;
  }
  while (sp_wire_next(&wire, &field) && trace_raw_field(&wire, &field, &raw))
    ;
  st = sp_wire_status(&wire, "Span", reader->refusal);
  if (st)
    return st;
  out = &spans->spans[spans->count];
  if (!trace_place(&raw, out) || !trace_is_in_window(spans, out)) {
    memset(out, 0, sizeof *out);
    spans->rejected++;
    return SPANPROF_OK;
  }
  spans->count++;
  out->service = reader->service;
  st = trace_copy(reader, raw.name, &out->name);
  if (!st)
    st = trace_status(reader, raw.status, out);
  return st ? st
            : trace_attributes(reader, message, TRACE_SPAN_ATTRIBUTES,
                               reader->resource, &out->attributes);
}

static spanprof_status trace_resource(trace_reader *reader, sp_view resource) {
  sp_view service = sp_otlp_attribute_text(resource, TRACE_RESOURCE_ATTRIBUTES,
                                           "service.name");
  spanprof_status st;

  if (!service.size)
    service = sp_view_text(TRACE_UNKNOWN);
  st = trace_copy(reader, service, &reader->service);
  return st ? st
            : trace_attributes(reader, resource, TRACE_RESOURCE_ATTRIBUTES,
                               NULL, &reader->resource);
}

typedef spanprof_status (*trace_visit)(trace_reader *reader, sp_view message);

/* Call `fn` for each field with this number. These fields are messages. */
static spanprof_status trace_each(trace_reader *reader, sp_view message,
                                  uint32_t number, trace_visit visit) {
  sp_wire wire = sp_wire_of(message);
  spanprof_status st = SPANPROF_OK;
  sp_wire_field field;

  while (!st && sp_wire_next(&wire, &field)) {
    if (field.number != number)
      continue;
    if (!sp_wire_require(&wire, &field, SP_WIRE_BYTES, "spans"))
      break;
    st = visit(reader, field.bytes);
  }
  return st ? st
            : sp_wire_status(&wire, "ExportTraceServiceRequest",
                             reader->refusal);
}

static spanprof_status trace_scope(trace_reader *reader, sp_view message) {
  return trace_each(reader, message, TRACE_SPANS, trace_span);
}

static spanprof_status trace_resource_spans(trace_reader *reader,
                                            sp_view message) {
  spanprof_status st = SPANPROF_OK;

  reader->service = NULL;
  if (reader->out->spans) {
    st = trace_each(reader, message, TRACE_RESOURCE, trace_resource);
    if (!st && !reader->service)
      st = trace_resource(reader, sp_view_of("", 0));
  }
  return st ? st : trace_each(reader, message, TRACE_SCOPES, trace_scope);
}

spanprof_status sp_otlp_spans_read(sp_otlp_spans *out, sp_view request,
                                   sp_refusal *refusal) {
  trace_reader reader = {.out = out, .refusal = refusal};
  spanprof_status st;

  st = trace_each(&reader, request, TRACE_REQUEST_RESOURCES,
                  trace_resource_spans);
  if (!st)
    st = sp_raw_new(&out->arena, reader.counted, sizeof *out->spans,
                    &out->spans, refusal);
  return st ? st
            : trace_each(&reader, request, TRACE_REQUEST_RESOURCES,
                         trace_resource_spans);
}
