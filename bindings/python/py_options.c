#include "py_options.h"

#include "py_otel.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_kind {
  OPTION_TEXT,
  OPTION_PATH,
  OPTION_NUMBER,
  OPTION_SWITCH
} option_kind;

#define OPTION_FIELD(name, kind) \
  { #name, offsetof(spanprof_options, name), OPTION_##kind }

static const struct option_field {
  const char *name;
  size_t offset;
  option_kind kind;
} option_fields[] = {
    OPTION_FIELD(application_name, TEXT),
    OPTION_FIELD(labels, TEXT),
    OPTION_FIELD(resource_labels, TEXT),
    OPTION_FIELD(clean_label_names, SWITCH),
    OPTION_FIELD(dotted_label_names, SWITCH),
    OPTION_FIELD(sample_rate_hz, NUMBER),
    OPTION_FIELD(signal_number, NUMBER),
    OPTION_FIELD(native_frames, SWITCH),
    OPTION_FIELD(report_pid, SWITCH),
    OPTION_FIELD(report_thread_id, SWITCH),
    OPTION_FIELD(report_thread_name, SWITCH),
    OPTION_FIELD(server_address, TEXT),
    OPTION_FIELD(basic_auth_user, TEXT),
    OPTION_FIELD(basic_auth_password, TEXT),
    OPTION_FIELD(auth_token, TEXT),
    OPTION_FIELD(tenant_id, TEXT),
    OPTION_FIELD(http_headers, TEXT),
    OPTION_FIELD(ca_bundle, PATH),
    OPTION_FIELD(client_cert, PATH),
    OPTION_FIELD(client_key, PATH),
    OPTION_FIELD(proxy, TEXT),
    OPTION_FIELD(no_proxy, TEXT),
    OPTION_FIELD(upload_protocol, TEXT),
    OPTION_FIELD(upload_interval_ms, NUMBER),
    OPTION_FIELD(queue_bytes, NUMBER),
    OPTION_FIELD(output_directory, PATH),
    OPTION_FIELD(output_max_bytes, NUMBER),
    OPTION_FIELD(output_max_age_s, NUMBER),
    OPTION_FIELD(spool_directory, PATH),
    OPTION_FIELD(spool_max_bytes, NUMBER),
    OPTION_FIELD(spool_max_age_s, NUMBER),
    OPTION_FIELD(span_names_max, NUMBER),
    OPTION_FIELD(label_values_max, NUMBER),
    OPTION_FIELD(log_level, NUMBER),
    OPTION_FIELD(flush_on_sigterm, SWITCH),
};

#define OPTION_COUNT (sizeof option_fields / sizeof *option_fields)

static int option_refuse(const char *name, PyObject *value,
                         const char *wanted) {
  PyErr_Format(py_sp_error, "%s must be %s, not %.100s", name, wanted,
               Py_TYPE(value)->tp_name);
  return -1;
}

/* The text stays valid as long as the list keeps its owner. */
static const char *option_text(py_sp_options *out, const char *name,
                               PyObject *value) {
  const char *text;
  Py_ssize_t bytes;

  if (!PyUnicode_Check(value)) {
    option_refuse(name, value, "text");
    return NULL;
  }
  text = PyUnicode_AsUTF8AndSize(value, &bytes);
  if (!text || strlen(text) != (size_t)bytes) {
    PyErr_Format(py_sp_error, "%s %s", name,
                 text ? "has a NUL character" : "is not valid Unicode");
    return NULL;
  }
  return PyList_Append(out->kept, value) < 0 ? NULL : text;
}

static int option_path(py_sp_options *out, const char *name, PyObject *value,
                       const char **text) {
  PyObject *path = PyOS_FSPath(value);

  *text = NULL;
  if (!path) {
    if (!py_sp_otel_may_take())
      return -1;
    PyErr_Clear();
    return option_refuse(name, value, "a path");
  }
  *text = option_text(out, name, path);
  Py_DECREF(path);
  return *text ? 0 : -1;
}

static int option_number(const char *name, PyObject *value, int64_t *number) {
  int overflow;

  if (!PyLong_Check(value) || PyBool_Check(value))
    return option_refuse(name, value, "a whole number");
  *number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (!overflow)
    return 0;
  PyErr_Format(py_sp_error, "%s is too large a number", name);
  return -1;
}

static int option_switch(const char *name, PyObject *value, int64_t *number) {
  if (!PyBool_Check(value))
    return option_refuse(name, value, "True or False");
  *number = value == Py_True;
  return 0;
}

static int option_set(py_sp_options *out, const struct option_field *field,
                      PyObject *value) {
  void *place = (char *)&out->options + field->offset;

  switch (field->kind) {
  case OPTION_TEXT:
    *(const char **)place = option_text(out, field->name, value);
    return *(const char **)place ? 0 : -1;
  case OPTION_PATH:
    return option_path(out, field->name, value, place);
  case OPTION_NUMBER:
    return option_number(field->name, value, place);
  case OPTION_SWITCH:
    return option_switch(field->name, value, place);
  }
  return -1;
}

static int option_pairs(py_sp_options *out, PyObject *value) {
  PyObject *name, *text;
  Py_ssize_t position = 0;
  size_t i = 0;

  if (!PyDict_Check(value))
    return option_refuse("label_pairs", value, "a dict");
  out->pairs = PyMem_New(spanprof_pair, (size_t)PyDict_Size(value) + 1);
  if (!out->pairs) {
    PyErr_NoMemory();
    return -1;
  }
  while (PyDict_Next(value, &position, &name, &text)) {
    out->pairs[i].name = option_text(out, "the name of a label", name);
    out->pairs[i].value =
        out->pairs[i].name ? option_text(out, out->pairs[i].name, text) : NULL;
    if (!out->pairs[i++].value)
      return -1;
  }
  out->options.label_pairs = out->pairs;
  out->options.label_pair_count = i;
  return 0;
}

static int option_callback(py_sp_options *out, PyObject *value) {
  if (!PyCallable_Check(value))
    return option_refuse("on_profile", value, "callable");
  out->on_profile = value;
  return 0;
}

static int option_lines(py_sp_options *out, PyObject *value) {
  int64_t which;

  if (option_number("line_numbers", value, &which) < 0)
    return -1;
  if (which < PY_SP_LINES_EXECUTED || which > PY_SP_LINES_NONE)
    return option_refuse("line_numbers", value, "0, 1 or 2");
  out->line_numbers = (py_sp_line_numbers)which;
  return 0;
}

static int option_read(py_sp_options *out, PyObject *key, PyObject *value) {
  size_t i;

  if (value == Py_None)
    return 0;
  for (i = 0; PyUnicode_Check(key) && i < OPTION_COUNT; i++) {
    if (PyUnicode_CompareWithASCIIString(key, option_fields[i].name) == 0)
      return option_set(out, &option_fields[i], value);
  }
  if (PyUnicode_Check(key) &&
      PyUnicode_CompareWithASCIIString(key, "label_pairs") == 0)
    return option_pairs(out, value);
  if (PyUnicode_Check(key) &&
      PyUnicode_CompareWithASCIIString(key, "on_profile") == 0)
    return option_callback(out, value);
  if (PyUnicode_Check(key) &&
      PyUnicode_CompareWithASCIIString(key, "line_numbers") == 0)
    return option_lines(out, value);
  PyErr_Format(py_sp_error, "there is no option %R", key);
  return -1;
}

/* On, where nobody says otherwise: SIGTERM ends Python without exit handlers,
 * and is how a container is ended. The core's default is 0, and a variable that
 * is
 * "" says nothing. */
static void options_settle(spanprof_options *options) {
  const char *variable = getenv("PYROSCOPE_FLUSH_ON_SIGTERM");

  if (options->flush_on_sigterm == SPANPROF_UNSET && !(variable && *variable))
    options->flush_on_sigterm = 1;
}

int py_sp_options_read(py_sp_options *out, PyObject *dictionary) {
  PyObject *key, *value;
  Py_ssize_t position = 0;

  memset(out, 0, sizeof *out);
  if (!py_sp_check(spanprof_options_init(&out->options, sizeof out->options)))
    return -1;
  if (!PyDict_Check(dictionary))
    return option_refuse("options", dictionary, "a dict");
  out->kept = PyList_New(0);
  if (!out->kept)
    return -1;
  while (PyDict_Next(dictionary, &position, &key, &value)) {
    if (option_read(out, key, value) < 0)
      return -1;
  }
  options_settle(&out->options);
  return 0;
}

void py_sp_options_dispose(py_sp_options *options) {
  Py_CLEAR(options->kept);
  PyMem_Free(options->pairs);
  options->pairs = NULL;
}
