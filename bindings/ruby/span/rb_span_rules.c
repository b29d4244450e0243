#include "rb_span_rules.h"

static void rules_free(void *data) {
  rb_sp_span_rules *rules = data;

  spanprof_span_rules_free(rules->rules);
  xfree(rules);
}

static size_t rules_size(const void *data) {
  (void)data;
  return sizeof(rb_sp_span_rules);
}

static const rb_data_type_t rules_type = {
    .wrap_struct_name = "spanprof span rules",
    .function = {.dfree = rules_free, .dsize = rules_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE rules_allocate(VALUE klass) {
  rb_sp_span_rules *rules;

  return TypedData_Make_Struct(klass, rb_sp_span_rules, &rules_type, rules);
}

static VALUE rules_option(VALUE options, const char *name) {
  return rb_hash_lookup(options, ID2SYM(rb_intern(name)));
}

static void rules_switch(VALUE options, const char *name, int64_t *out) {
  VALUE value = rules_option(options, name);

  if (!NIL_P(value))
    *out = RTEST(value);
}

static void rules_url(VALUE options, int64_t *out) {
  if (rules_option(options, "add_url") == ID2SYM(rb_intern("auto")))
    *out = SPANPROF_URL_AUTO;
  else
    rules_switch(options, "add_url", out);
}

/* Replace the value `name` in the Hash `options` by its text. The Hash keeps
 * the text alive. */
static void rules_text(VALUE options, const char *name, const char **out) {
  VALUE value = rules_option(options, name);

  if (NIL_P(value))
    return;
  value = rb_obj_as_string(value);
  rb_hash_aset(options, ID2SYM(rb_intern(name)), value);
  *out = StringValueCStr(value);
}

/* Native::SpanRules.new(options): `options` is a Hash with the fields of
 * spanprof_span_rules_options; a field is not set if its value is nil. For an
 * invalid value, raises Spanprof::Error with the name of the field. */
static VALUE rules_initialize(VALUE self, VALUE given) {
  rb_sp_span_rules *rules = rb_check_typeddata(self, &rules_type);
  VALUE options = rb_hash_dup(given);
  spanprof_span_rules_options fields;

  rb_sp_check(spanprof_span_rules_options_init(&fields, sizeof fields));
  rules_text(options, "application_name", &fields.application_name);
  rules_text(options, "server_address", &fields.server_address);
  rules_text(options, "baseline_labels", &fields.baseline_labels);
  rules_text(options, "url_template", &fields.url_template);
  rules_switch(options, "root_span_only", &fields.root_span_only);
  rules_switch(options, "add_span_name", &fields.add_span_name);
  rules_url(options, &fields.add_url);
  rules_switch(options, "add_baseline_urls", &fields.add_baseline_urls);
  rules_switch(options, "add_trace_id", &fields.add_trace_id);
  rules_switch(options, "legacy_span_label", &fields.legacy_span_label);
  rules_switch(options, "span_id_label", &fields.span_id_label);
  rb_sp_check(spanprof_span_rules_new(&fields, &rules->rules));
  RB_GC_GUARD(options);
  rules->attributes = 1u << SPANPROF_ATTRIBUTE_PROFILE_ID;
  if (fields.add_url != 0)
    rules->attributes |= 1u << SPANPROF_ATTRIBUTE_URL;
  if (fields.add_baseline_urls == 1)
    rules->attributes |= 1u << SPANPROF_ATTRIBUTE_BASELINE_URL |
                         1u << SPANPROF_ATTRIBUTE_DIFF_URL;
  return self;
}

const rb_sp_span_rules *rb_sp_span_rules_get(VALUE value) {
  return rb_check_typeddata(value, &rules_type);
}

void rb_sp_span_rules_init(void) {
  VALUE rules = rb_define_class_under(rb_sp_native, "SpanRules", rb_cObject);

  rb_define_alloc_func(rules, rules_allocate);
  rb_define_method(rules, "initialize", rules_initialize, 1);
}
