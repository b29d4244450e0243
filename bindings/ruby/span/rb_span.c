#include "rb_span.h"

#include <pthread.h>
#include <ruby/encoding.h>
#include <string.h>

#include "base/rb_text.h"
#include "context/rb_context.h"
#include "rb_activation.h"
#include "rb_attribute.h"
#include "rb_span_rules.h"

/* Size of the buffer for a span attribute. A URL of a span whose name has 60
 * characters fits, with or without a baseline; a longer value needs a second
 * call. */
#define SPAN_URL_BYTES 1024

/* Number of spans in a slab. Slabs are never freed. One malloc() per span would
 * be a fifteenth of the cost of a span. */
#define SPAN_SLAB 64

#define SPAN_ATTRIBUTES 4

static ID span_context, span_name, span_ivar, span_remote, span_remote_parent,
    span_sampled;
static VALUE span_class;
static VALUE span_keys[SPAN_ATTRIBUTES];
static rb_sp_span *span_free;

/* A profiled span has started in this process. */
static bool span_seen;
static VALUE span_order[2]; /* :first, :later */

/* The last trace flags that were read, and whether they have the flag
 * "sampled". */
static VALUE span_flags = Qnil;
static bool span_flags_sampled;

static void span_holder_free(void *data) {
  rb_sp_span *record = data;

  if (!record->ended_in)
    spanprof_span_end(record->number);
  if (record->retained)
    spanprof_span_release(record->number);
  record->next_free = span_free;
  span_free = record;
}

static size_t span_holder_size(const void *data) {
  (void)data;
  return sizeof(rb_sp_span);
}

static const rb_data_type_t span_holder = {
    .wrap_struct_name = "spanprof span",
    .function = {.dfree = span_holder_free, .dsize = span_holder_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

/* Returns a zeroed rb_sp_span. */
static rb_sp_span *span_allocate(void) {
  rb_sp_span *record = span_free;
  size_t i;

  if (!record) {
    record = ruby_xcalloc(SPAN_SLAB, sizeof *record);
    for (i = 0; i < SPAN_SLAB; i++) {
      record[i].next_free = span_free;
      span_free = &record[i];
    }
    record = span_free;
  }
  span_free = record->next_free;
  memset(record, 0, sizeof *record);
  return record;
}

rb_sp_span *rb_sp_span_of(VALUE span) {
  VALUE record;

  if (RB_SPECIAL_CONST_P(span))
    return NULL;
  record = rb_attr_get(span, span_ivar);
  return RB_NIL_P(record) ? NULL : RTYPEDDATA_DATA(record);
}

/* Copy an id of exactly `size` bytes to `out`, which contains zeros. Any other
 * object counts as an id of zeros. */
static void span_id_copy(VALUE id, uint8_t *out, size_t size) {
  if (RB_TYPE_P(id, T_STRING) && (size_t)RSTRING_LEN(id) == size)
    memcpy(out, RSTRING_PTR(id), size);
}

/* Trace flags are nearly always constants of the API, and sampled? is a method
 * in Ruby, so the last answer is cached. */
static bool span_is_sampled(VALUE flags) {
  if (flags != span_flags) {
    span_flags_sampled = RTEST(rb_funcallv(flags, span_sampled, 0, NULL));
    span_flags = flags;
  }
  return span_flags_sampled;
}

/* Since version 1.10 of the SDK, spans know whether their parent is remote; for
 * older versions, check the parent in `parent_context`. May raise. */
static bool span_parent_is_remote(VALUE span, VALUE parent_context) {
  VALUE remote = rb_attr_get(span, span_remote_parent);
  VALUE parent, context;

  if (!NIL_P(remote))
    return RTEST(remote);
  parent = rb_sp_activation_span(parent_context);
  if (NIL_P(parent) || rb_sp_span_of(parent))
    return false;
  context = rb_funcallv(parent, span_context, 0, NULL);
  return RTEST(rb_funcallv(context, span_remote, 0, NULL));
}

static VALUE span_text(const char *bytes, size_t size) {
  VALUE text = rb_str_new(bytes, (long)size);

  /* rb_utf8_str_new() would scan the text once more. */
  RB_ENCODING_SET_INLINED(text, rb_utf8_encindex());
  return text;
}

/* Returns nil if the span does not have this attribute. May raise. */
static VALUE span_attribute(const spanprof_span_rules *rules,
                            spanprof_span number,
                            spanprof_span_attribute attribute) {
  char buffer[SPAN_URL_BYTES];
  VALUE value = Qnil;
  size_t length;
  spanprof_status st = spanprof_span_attribute_get(
      rules, number, attribute, buffer, sizeof buffer, &length);

  if (st == SPANPROF_ERR_LIMIT) {
    value = span_text(NULL, length);
    /* A Ruby string has one more byte for a NUL, so the buffer has length + 1
     * bytes. */
    st = spanprof_span_attribute_get(rules, number, attribute,
                                     RSTRING_PTR(value), length + 1, &length);
  } else if (!st && length) {
    value = span_text(buffer, length);
  }
  return st ? Qnil : value;
}

/* Set the attributes that the rules allow on the SDK's object `span`. May
 * raise. */
static void span_attributes_set(const rb_sp_span_rules *rules, VALUE span,
                                spanprof_span number) {
  VALUE pairs[2 * SPAN_ATTRIBUTES];
  unsigned attribute;
  long count = 0;

  for (attribute = 0; attribute < SPAN_ATTRIBUTES; attribute++) {
    VALUE value = rules->attributes & 1u << attribute
                      ? span_attribute(rules->rules, number, attribute)
                      : Qnil;

    if (RB_NIL_P(value))
      continue;
    pairs[2 * count] = span_keys[attribute];
    pairs[2 * count + 1] = value;
    count++;
  }
  if (count)
    rb_sp_attributes_set(span, count, pairs);
}

/* Runs in a forked child: the child may have another tracer provider, so its
 * first span counts as a first one again. */
static void span_seen_reset(void) {
  span_seen = false;
}

/* call-seq: resource_set(name, namespace) -> nil */
static VALUE native_resource_set(VALUE self, VALUE name, VALUE name_space) {
  name = rb_sp_text(name);
  name_space = rb_sp_text(name_space);
  rb_sp_check(spanprof_resource_set(
      RSTRING_PTR(name), (size_t)RSTRING_LEN(name), RSTRING_PTR(name_space),
      (size_t)RSTRING_LEN(name_space)));
  RB_GC_GUARD(name);
  RB_GC_GUARD(name_space);
  (void)self;
  return Qnil;
}

/* Start the span that `info` describes, for the SDK's object `span`. May raise.
 */
static void span_start(const rb_sp_span_rules *rules, VALUE span,
                       const spanprof_span_info *info) {
  rb_sp_span *record = span_allocate();
  VALUE holder = rb_data_typed_object_wrap(span_class, record, &span_holder);

  rb_sp_check(spanprof_span_start(rules->rules, info, &record->number));
  record->retained = spanprof_span_retain(record->number);
  memcpy(record->trace_id, info->trace_id, sizeof record->trace_id);
  rb_ivar_set(span, span_ivar, holder);
  span_attributes_set(rules, span, record->number);
}

/* SpanProcessor#label_span(span, parent_context, rules, name, trace_id,
 * span_id, parent_id, trace_flags): start the core's span and set the
 * attributes of `span`. Its caller in Ruby reads the ids and the name, because
 * method calls in Ruby code have inline caches. May raise. */
static VALUE span_label(VALUE self, VALUE span, VALUE parent_context,
                        VALUE rules, VALUE name, VALUE trace_id, VALUE span_id,
                        VALUE parent_id, VALUE trace_flags) {
  spanprof_span_info info = {.struct_size = sizeof info};

  (void)self;
  name = rb_sp_text(name);
  span_id_copy(trace_id, info.trace_id, sizeof info.trace_id);
  span_id_copy(span_id, info.span_id, sizeof info.span_id);
  span_id_copy(parent_id, info.parent_id, sizeof info.parent_id);
  if (!span_is_sampled(trace_flags))
    info.flags |= SPANPROF_SPAN_UNSAMPLED;
  if (memcmp(info.parent_id, (uint8_t[8]){0}, sizeof info.parent_id) != 0 &&
      span_parent_is_remote(span, parent_context))
    info.flags |= SPANPROF_SPAN_PARENT_REMOTE;
  /* rb_check_frozen() would call the span's inspect for its message. */
  if (RB_OBJ_FROZEN(span))
    rb_raise(rb_eFrozenError, "it is frozen");
  info.name = RSTRING_PTR(name);
  info.name_bytes = (size_t)RSTRING_LEN(name);
  span_start(rb_sp_span_rules_get(rules), span, &info);
  RB_GC_GUARD(name);
  RB_GC_GUARD(rules);
  return Qnil;
}

/* Native.span_rename(span): read the name of the SDK's span again, after a
 * change. May raise. */
static VALUE span_rename(VALUE self, VALUE span) {
  const rb_sp_span *record;
  VALUE name;

  (void)self;
  if (!rb_sp_ractor_is_main())
    return Qnil;
  record = rb_sp_span_of(span);
  if (!record)
    return Qnil;
  name = rb_sp_text(rb_funcallv(span, span_name, 0, NULL));
  spanprof_span_rename(record->number, RSTRING_PTR(name),
                       (size_t)RSTRING_LEN(name));
  RB_GC_GUARD(name);
  return Qnil;
}

/* SpanProcessor#on_finish(span) */
static VALUE span_on_finish(VALUE self, VALUE span) {
  rb_sp_span *record;
  rb_sp_scope *scope;

  (void)self;
  if (!rb_sp_ractor_is_main())
    return Qnil;
  record = rb_sp_span_of(span);
  if (!record)
    return Qnil;
  scope = rb_sp_scope_current();
  record->ended_in = scope ? scope->serial : UINT64_MAX;
  /* An ended span gets no samples, although it is still attached. */
  if (scope && scope->span == record->number)
    rb_sp_scope_span_set(scope, 0, NULL);
  spanprof_span_end(record->number);
  return Qnil;
}

/* SpanProcessor#follow_span: returns nil if a span that starts on this thread
 * is not profiled, :first if it is the first profiled span of this process, and
 * :later for all others. */
static VALUE span_follow(VALUE self) {
  VALUE order = span_order[span_seen];

  (void)self;
  if (!rb_sp_context_follows() || !rb_sp_ractor_is_main())
    return Qnil;
  span_seen = true;
  return order;
}

void rb_sp_span_init(void) {
  static const spanprof_span_attribute attributes[SPAN_ATTRIBUTES] = {
      SPANPROF_ATTRIBUTE_PROFILE_ID, SPANPROF_ATTRIBUTE_URL,
      SPANPROF_ATTRIBUTE_BASELINE_URL, SPANPROF_ATTRIBUTE_DIFF_URL};
  VALUE hook = rb_define_module_under(rb_sp_native, "SpanHook");
  size_t i;

  span_class = rb_sp_class_opaque("Span");
  span_context = rb_intern("context");
  span_name = rb_intern("name");
  span_remote = rb_intern("remote?");
  span_remote_parent = rb_intern("@parent_span_is_remote");
  span_sampled = rb_intern("sampled?");
  span_order[false] = ID2SYM(rb_intern("first"));
  span_order[true] = ID2SYM(rb_intern("later"));
  span_ivar = rb_intern("spanprof span");
  pthread_atfork(NULL, NULL, span_seen_reset);
  rb_gc_register_address(&span_flags);
  for (i = 0; i < SPAN_ATTRIBUTES; i++) {
    span_keys[i] = rb_str_to_interned_str(
        rb_utf8_str_new_cstr(spanprof_span_attribute_key(attributes[i])));
    rb_gc_register_mark_object(span_keys[i]);
  }
  rb_ext_ractor_safe(true);
  rb_define_method(hook, "on_finish", span_on_finish, 1);
  rb_define_private_method(hook, "label_span", span_label, 8);
  rb_define_private_method(hook, "follow_span", span_follow, 0);
  rb_define_module_function(rb_sp_native, "span_rename", span_rename, 1);
  rb_ext_ractor_safe(false);
  rb_define_module_function(rb_sp_native, "resource_set", native_resource_set,
                            2);
}
