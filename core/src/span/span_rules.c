#include "span_rules.h"

#include <pthread.h>
#include <string.h>

#include "label/context.h"
#include "span.h"
#include "span_fork.h"
#include "span_name.h"
#include "span_sweep.h"
#include "util/memory/struct_copy.h"
#include "util/system/status.h"
#include "util/text/clean.h"
#include "util/text/utf8.h"

/* Maximum size of a baseline value, as on the server. */
#define RULES_TEXT_MAX 2048

const spanprof_span_rules sp_span_rules_default = {
    .mem = &sp_mem_default,
    .root_span_only = true,
    .add_url = SPANPROF_URL_AUTO,
    .span_bits = SP_SPAN_ADD_NAME,
};

/* The running session's values. Process-wide, because rules exist before and
 * after sessions. */
static struct {
  pthread_mutex_t lock;
  /* Guarded by `rules_session.lock`. */
  const sp_mem *mem; /* NULL: no session */
  char *application_name;
  char *server_address;
  sp_url_labels labels;
} rules_session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Does the session's server have a page to which links to spans lead? */
static _Atomic bool rules_links_open;

static void rules_labels_free(sp_url_labels *labels, const sp_mem *mem) {
  size_t i;

  for (i = 0; i < labels->count; i++) {
    sp_mem_free(mem, labels->pairs[i].name);
    sp_mem_free(mem, labels->pairs[i].value);
  }
  sp_mem_free(mem, labels->pairs);
  labels->pairs = NULL;
  labels->count = 0;
}

/* Append a pair. It replaces an earlier pair of the same name. */
static spanprof_status rules_label_add(sp_url_labels *labels, const sp_mem *mem,
                                       const char *name, size_t name_bytes,
                                       const char *value, size_t value_bytes) {
  sp_pair pair = {sp_mem_text(mem, name, name_bytes),
                  sp_mem_text(mem, value, value_bytes)};
  size_t i, capacity = labels->count;
  spanprof_status st = SPANPROF_ERR_NOMEM;

  if (pair.name && pair.value) {
    for (i = 0; i < labels->count; i++)
      if (strcmp(labels->pairs[i].name, pair.name) == 0)
        break;
    if (i < labels->count) {
      char *old = labels->pairs[i].value;

      labels->pairs[i].value = pair.value;
      pair.value = old;
      st = SPANPROF_OK;
    } else if (!sp_mem_reserve(mem, (void **)&labels->pairs, &capacity,
                               labels->count + 1, sizeof pair)) {
      labels->pairs[labels->count++] = pair;
      return SPANPROF_OK;
    }
  }
  sp_mem_free(mem, pair.name);
  sp_mem_free(mem, pair.value);
  return st;
}

static bool rules_name_valid(const char *name, size_t bytes) {
  size_t i;

  for (i = 0; i < bytes; i++)
    if (!sp_clean_name_has(name[i], i))
      return false;
  return bytes > 0;
}

static spanprof_status rules_labels_parse(const char *text, const sp_mem *mem,
                                          sp_url_labels *out) {
  spanprof_status st = SPANPROF_OK;

  if (!sp_utf8_valid(text, strlen(text)))
    return sp_fail(SPANPROF_ERR_ARGUMENT, "baseline_labels is not UTF-8");
  while (!st && *text) {
    size_t bytes = strcspn(text, ",");
    const char *equals = memchr(text, '=', bytes);
    size_t name_bytes = equals ? (size_t)(equals - text) : 0;

    if (!equals)
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "baseline_labels has a label without =");
    if (!rules_name_valid(text, name_bytes))
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "baseline_labels has a name that is not "
                     "[A-Za-z_][A-Za-z0-9_.]*");
    if (bytes - name_bytes - 1 > RULES_TEXT_MAX)
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "baseline_labels has a value of more than 2048 bytes");
    st = rules_label_add(out, mem, text, name_bytes, equals + 1,
                         bytes - name_bytes - 1);
    text += bytes + (text[bytes] == ',');
  }
  return st ? sp_fail(st, "no memory for baseline_labels") : SPANPROF_OK;
}

/* Read an option that is 0, 1 or unset. */
static spanprof_status rules_switch(int64_t value, const char *name,
                                    bool *out) {
  if (value != SPANPROF_UNSET && value != 0 && value != 1)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "%s is neither 0 nor 1", name);
  if (value != SPANPROF_UNSET)
    *out = value == 1;
  return SPANPROF_OK;
}

static spanprof_status rules_url_read(int64_t value,
                                      spanprof_span_rules *rules) {
  if (value == SPANPROF_UNSET)
    return SPANPROF_OK;
  if (value != 0 && value != 1 && value != SPANPROF_URL_AUTO)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "add_url is neither 0, 1 nor SPANPROF_URL_AUTO");
  rules->add_url = (uint8_t)value;
  return SPANPROF_OK;
}

static spanprof_status
rules_switches_read(const spanprof_span_rules_options *options,
                    spanprof_span_rules *rules) {
  bool name = true, trace_id = false, legacy = false, id = false;
  const struct {
    int64_t value;
    const char *name;
    bool *out;
  } switches[] = {
      {options->root_span_only, "root_span_only", &rules->root_span_only},
      {options->add_span_name, "add_span_name", &name},
      {options->add_baseline_urls, "add_baseline_urls",
       &rules->add_baseline_urls},
      {options->add_trace_id, "add_trace_id", &trace_id},
      {options->legacy_span_label, "legacy_span_label", &legacy},
      {options->span_id_label, "span_id_label", &id},
  };
  spanprof_status st = rules_url_read(options->add_url, rules);
  size_t i;

  for (i = 0; !st && i < SP_COUNT_OF(switches); i++)
    st = rules_switch(switches[i].value, switches[i].name, switches[i].out);
  rules->span_bits =
      (name ? SP_SPAN_ADD_NAME : 0) | (trace_id ? SP_SPAN_ADD_TRACE_ID : 0) |
      (legacy ? SP_SPAN_LEGACY_LABEL : 0) | (id ? SP_SPAN_ID_LABEL : 0);
  return st;
}

static spanprof_status
rules_texts_read(const spanprof_span_rules_options *options,
                 spanprof_span_rules *rules) {
  spanprof_status st = SPANPROF_OK;

  if (options->application_name) {
    if (!*options->application_name)
      return sp_fail(SPANPROF_ERR_ARGUMENT, "application_name is empty");
    if (!sp_utf8_valid(options->application_name,
                       strlen(options->application_name)))
      return sp_fail(SPANPROF_ERR_ARGUMENT, "application_name is not UTF-8");
    rules->application_name = sp_mem_text(rules->mem, options->application_name,
                                          strlen(options->application_name));
    if (!rules->application_name)
      return sp_fail(SPANPROF_ERR_NOMEM, "no memory for application_name");
  }
  if (options->server_address)
    st = sp_profile_url_server(options->server_address, rules->mem,
                               &rules->server_address);
  if (!st && options->baseline_labels)
    st = rules_labels_parse(options->baseline_labels, rules->mem,
                            &rules->baseline);
  if (!st && options->url_template)
    st = sp_url_template_new(options->url_template, rules->mem,
                             &rules->url_template);
  return st;
}

/* Free the session's values. The caller holds `rules_session.lock`. */
static void rules_session_clear(void) {
  const sp_mem *mem = rules_session.mem;

  if (!mem)
    return;
  sp_mem_free(mem, rules_session.application_name);
  sp_mem_free(mem, rules_session.server_address);
  rules_labels_free(&rules_session.labels, mem);
  rules_session.application_name = NULL;
  rules_session.server_address = NULL;
  rules_session.mem = NULL;
}

/* Copy the session's values. The caller holds `rules_session.lock`. */
static spanprof_status rules_session_copy(const sp_settings *settings) {
  const sp_mem *mem = settings->mem;
  spanprof_status st = SPANPROF_OK;
  size_t i;

  rules_session.mem = mem;
  rules_session.application_name = sp_mem_text(
      mem, settings->application_name, strlen(settings->application_name));
  if (!rules_session.application_name)
    return SPANPROF_ERR_NOMEM;
  if (settings->server_address)
    st = sp_profile_url_server(settings->server_address, mem,
                               &rules_session.server_address);
  for (i = 0; !st && i < settings->label_count; i++) {
    const sp_pair *label = &settings->labels[i];

    st = rules_label_add(&rules_session.labels, mem, label->name,
                         strlen(label->name), label->value,
                         strlen(label->value));
  }
  return st;
}

spanprof_status sp_span_defaults_set(const sp_settings *settings) {
  spanprof_status st = SPANPROF_OK;

  sp_span_fork_ready();
  atomic_store(&rules_links_open, false);
  pthread_mutex_lock(&rules_session.lock);
  rules_session_clear();
  if (settings) {
    st = rules_session_copy(settings);
    if (st)
      rules_session_clear();
  }
  pthread_mutex_unlock(&rules_session.lock);
  if (settings && !st)
    sp_span_names_max_set((uint32_t)settings->span_names_max);
  sp_span_sweep_owned(settings && !st);
  return st;
}

void sp_span_links_open(void) {
  atomic_store(&rules_links_open, true);
}

spanprof_status sp_span_defaults_name(const char *name) {
  spanprof_status st = SPANPROF_OK;
  char *copy;

  pthread_mutex_lock(&rules_session.lock);
  if (rules_session.mem) {
    copy = sp_mem_text(rules_session.mem, name, strlen(name));
    if (copy) {
      sp_mem_free(rules_session.mem, rules_session.application_name);
      rules_session.application_name = copy;
    } else {
      st = SPANPROF_ERR_NOMEM;
    }
  }
  pthread_mutex_unlock(&rules_session.lock);
  return st;
}

spanprof_status sp_span_rules_make(const spanprof_span_rules_options *options,
                                   const sp_mem *mem,
                                   spanprof_span_rules **out) {
  spanprof_span_rules_options given;
  spanprof_span_rules *rules;
  spanprof_status st;

  *out = NULL;
  spanprof_span_rules_options_init(&given, sizeof given);
  if (options) {
    if (!sp_struct_copy(&given, sizeof given, options, sizeof(size_t)))
      return sp_fail(SPANPROF_ERR_ARGUMENT,
                     "the struct_size of spanprof_span_rules_options is wrong: "
                     "call spanprof_span_rules_options_init()");
  }
  rules = sp_mem_zero(mem, sizeof *rules);
  if (!rules)
    return sp_fail(SPANPROF_ERR_NOMEM, "no memory for span rules");
  *rules = sp_span_rules_default;
  rules->mem = mem;
  st = rules_switches_read(&given, rules);
  if (!st)
    st = rules_texts_read(&given, rules);
  if (st) {
    spanprof_span_rules_free(rules);
    return st;
  }
  *out = rules;
  return SPANPROF_OK;
}

bool sp_span_rules_adds(const spanprof_span_rules *rules,
                        spanprof_span_attribute attribute) {
  if (attribute != SPANPROF_ATTRIBUTE_URL)
    return rules->add_baseline_urls;
  if (rules->add_url != SPANPROF_URL_AUTO || rules->url_template)
    return rules->add_url;
  return !rules->server_address &&
         atomic_load_explicit(&rules_links_open, memory_order_relaxed);
}

void sp_span_rules_url(const spanprof_span_rules *rules,
                       spanprof_span_attribute attribute,
                       const sp_url_span *span, int64_t now_s, sp_buffer *out) {
  bool own = attribute == SPANPROF_ATTRIBUTE_URL;
  sp_url_place place;

  pthread_mutex_lock(&rules_session.lock);
  place = (sp_url_place){
      .application_name = rules->application_name
                              ? rules->application_name
                              : rules_session.application_name,
      .server_address = rules->server_address ? rules->server_address
                                              : rules_session.server_address,
      .labels = &rules_session.labels,
      .baseline = &rules->baseline,
  };
  if (own && rules->url_template)
    sp_url_template_write(rules->url_template, &place, span, now_s, out);
  else if (place.application_name && place.server_address && own)
    sp_profile_url_span(out, &place, span->profile_id, now_s);
  else if (place.application_name && place.server_address)
    sp_profile_url_compare(out, &place,
                           attribute == SPANPROF_ATTRIBUTE_DIFF_URL
                               ? "/comparison-diff"
                               : "/comparison",
                           span->profile_id, now_s);
  pthread_mutex_unlock(&rules_session.lock);
}

void sp_span_rules_lock(void) {
  pthread_mutex_lock(&rules_session.lock);
}

void sp_span_rules_unlock(void) {
  pthread_mutex_unlock(&rules_session.lock);
}

spanprof_status
spanprof_span_rules_options_init(spanprof_span_rules_options *options,
                                 size_t struct_size) {
  const spanprof_span_rules_options unset = {
      .struct_size = struct_size,
      .root_span_only = SPANPROF_UNSET,
      .add_span_name = SPANPROF_UNSET,
      .add_url = SPANPROF_UNSET,
      .add_baseline_urls = SPANPROF_UNSET,
      .add_trace_id = SPANPROF_UNSET,
      .legacy_span_label = SPANPROF_UNSET,
      .span_id_label = SPANPROF_UNSET,
  };

  if (!options || struct_size < sizeof unset.struct_size ||
      struct_size > sizeof unset)
    return sp_fail(SPANPROF_ERR_ARGUMENT,
                   "the struct_size of spanprof_span_rules_options is wrong: "
                   "call spanprof_span_rules_options_init()");
  memcpy(options, &unset, struct_size);
  return SPANPROF_OK;
}

spanprof_status
spanprof_span_rules_new(const spanprof_span_rules_options *options,
                        spanprof_span_rules **out) {
  return sp_span_rules_make(options, &sp_mem_default, out);
}

void spanprof_span_rules_free(spanprof_span_rules *rules) {
  if (!rules)
    return;
  sp_mem_free(rules->mem, rules->application_name);
  sp_mem_free(rules->mem, rules->server_address);
  rules_labels_free(&rules->baseline, rules->mem);
  sp_url_template_free(rules->url_template);
  sp_mem_free(rules->mem, rules);
}
