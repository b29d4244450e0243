#include "rb_options.h"

#include <string.h>

#include <ruby/encoding.h>

typedef enum option_kind {
  OPTION_TEXT,
  OPTION_NUMBER,
  OPTION_SWITCH,
} option_kind;

/* The fields of spanprof_options but for those of its callbacks, which are
 * called where no Ruby can run. */
#define OPTIONS_TABLE(X)        \
  X(application_name, TEXT)     \
  X(labels, TEXT)               \
  X(resource_labels, TEXT)      \
  X(clean_label_names, SWITCH)  \
  X(dotted_label_names, SWITCH) \
  X(sample_rate_hz, NUMBER)     \
  X(signal_number, NUMBER)      \
  X(native_frames, SWITCH)      \
  X(report_pid, SWITCH)         \
  X(report_thread_id, SWITCH)   \
  X(report_thread_name, SWITCH) \
  X(server_address, TEXT)       \
  X(basic_auth_user, TEXT)      \
  X(basic_auth_password, TEXT)  \
  X(auth_token, TEXT)           \
  X(tenant_id, TEXT)            \
  X(http_headers, TEXT)         \
  X(ca_bundle, TEXT)            \
  X(client_cert, TEXT)          \
  X(client_key, TEXT)           \
  X(proxy, TEXT)                \
  X(no_proxy, TEXT)             \
  X(upload_protocol, TEXT)      \
  X(upload_interval_ms, NUMBER) \
  X(queue_bytes, NUMBER)        \
  X(output_directory, TEXT)     \
  X(output_max_bytes, NUMBER)   \
  X(output_max_age_s, NUMBER)   \
  X(spool_directory, TEXT)      \
  X(spool_max_bytes, NUMBER)    \
  X(spool_max_age_s, NUMBER)    \
  X(span_names_max, NUMBER)     \
  X(label_values_max, NUMBER)   \
  X(log_level, NUMBER)          \
  X(flush_on_sigterm, SWITCH)

static const struct option_row {
  const char *name;
  option_kind kind;
  size_t offset;
} option_rows[] = {
#define OPTION_ROW(field, kind) \
  {#field, OPTION_##kind, offsetof(spanprof_options, field)},
    OPTIONS_TABLE(OPTION_ROW)
#undef OPTION_ROW
};

#define OPTION_ROW_COUNT (sizeof option_rows / sizeof option_rows[0])

NORETURN(static void option_refuse(const char *name, const char *wanted,
                                   VALUE value));

static void option_refuse(const char *name, const char *wanted, VALUE value) {
  rb_raise(rb_sp_error, "%s must be %s, not a value of class %" PRIsVALUE, name,
           wanted, rb_obj_class(value));
}

/* The bytes of a String in UTF-8, NUL-terminated. Bytes that no encoding
 * explains stay as they are: the core says what is wrong with them. */
static const char *option_text(rb_sp_options *out, const char *name,
                               VALUE value) {
  VALUE text;

  if (!RB_TYPE_P(value, T_STRING))
    option_refuse(name, "a String", value);
  text = rb_str_export_to_enc(value, rb_utf8_encoding());
  if (memchr(RSTRING_PTR(text), '\0', (size_t)RSTRING_LEN(text)))
    rb_raise(rb_sp_error, "%s holds a NUL byte", name);
  text = rb_str_new_frozen(text);
  rb_ary_push(out->texts, text);
  return StringValueCStr(text);
}

static int64_t option_number(const char *name, VALUE value) {
  if (!RB_INTEGER_TYPE_P(value))
    option_refuse(name, "an Integer", value);
  if (!FIXNUM_P(value))
    rb_raise(rb_sp_error, "%s is out of range", name);
  return FIX2LONG(value);
}

static int64_t option_switch(const char *name, VALUE value) {
  if (value != Qtrue && value != Qfalse)
    option_refuse(name, "true or false", value);
  return value == Qtrue;
}

static int option_pair(VALUE name, VALUE value, VALUE data) {
  rb_sp_options *out = (rb_sp_options *)data;
  spanprof_pair *pair = (spanprof_pair *)RSTRING_PTR(out->pairs);

  pair += out->core.label_pair_count++;
  pair->name = option_text(out, "labels", name);
  pair->value = option_text(out, "labels", value);
  return ST_CONTINUE;
}

static void option_pairs(rb_sp_options *out, VALUE hash) {
  size_t bytes = RHASH_SIZE(hash) * sizeof(spanprof_pair);

  out->pairs = rb_str_new(NULL, (long)bytes);
  out->core.label_pairs = (const spanprof_pair *)RSTRING_PTR(out->pairs);
  rb_hash_foreach(hash, option_pair, (VALUE)out);
}

static void option_set(rb_sp_options *out, const struct option_row *row,
                       VALUE value) {
  char *field = (char *)&out->core + row->offset;
  const char *text;
  int64_t number;

  if (row->kind == OPTION_TEXT) {
    text = option_text(out, row->name, value);
    memcpy(field, &text, sizeof text);
    return;
  }
  number = row->kind == OPTION_NUMBER ? option_number(row->name, value)
                                      : option_switch(row->name, value);
  memcpy(field, &number, sizeof number);
}

static int option_entry(VALUE key, VALUE value, VALUE data) {
  rb_sp_options *out = (rb_sp_options *)data;
  VALUE name = rb_obj_as_string(key);
  size_t i;

  if (NIL_P(value))
    return ST_CONTINUE;
  for (i = 0; i < OPTION_ROW_COUNT; i++) {
    const char *known = option_rows[i].name;

    if ((size_t)RSTRING_LEN(name) != strlen(known) ||
        memcmp(RSTRING_PTR(name), known, strlen(known)) != 0)
      continue;
    if (RB_TYPE_P(value, T_HASH) && strcmp(known, "labels") == 0)
      option_pairs(out, value);
    else
      option_set(out, &option_rows[i], value);
    return ST_CONTINUE;
  }
  rb_raise(rb_sp_error, "there is no option %" PRIsVALUE, rb_inspect(name));
}

void rb_sp_options_read(rb_sp_options *out, VALUE hash) {
  Check_Type(hash, T_HASH);
  out->pairs = Qnil;
  out->texts = rb_ary_new();
  rb_sp_check(spanprof_options_init(&out->core, sizeof out->core));
  rb_hash_foreach(hash, option_entry, (VALUE)out);
}
