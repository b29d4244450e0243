#include "py_span_record.h"

#include "base/py_utf8.h"

#define RECORD_BUCKETS_MIN 256

/* Number of slots of `recent`, a power of two. The array `recent` finds the
 * records of spans that are attached and detached repeatedly, without reading
 * the ids of the spans. */
#define RECORD_RECENT 64

/* All records of the process, because span ids are valid in the whole process.
 * The caller holds the GIL. */
static struct {
  /* Borrowed references: record_dealloc() removes a record. */
  py_sp_span_record **buckets;
  size_t bucket_count; /* a power of two */
  size_t count;
  /* Records by the address of the SDK's span. Borrowed references: a record is
   * removed when its span is freed. */
  py_sp_span_record *recent[RECORD_RECENT];
} records;

/* Span ids are usually random. The hash mixes both halves, because ids of a
 * test or of another tracer may be consecutive. */
static size_t record_bucket(uint64_t id, size_t bucket_count) {
  return (size_t)(id ^ id >> 32) & (bucket_count - 1);
}

static py_sp_span_record **record_recent_slot(const PyObject *object) {
  return &records.recent[((uintptr_t)object >> 4) & (RECORD_RECENT - 1)];
}

static void record_recent_remove(py_sp_span_record *record) {
  py_sp_span_record **slot = record_recent_slot(record->address);

  if (*slot == record)
    *slot = NULL;
  record->address = NULL;
}

static void record_link(py_sp_span_record **buckets, size_t bucket_count,
                        py_sp_span_record *record) {
  size_t i = record_bucket(record->id, bucket_count);

  record->next_hash = buckets[i];
  buckets[i] = record;
}

/* Grow the table so that it has at least as many buckets as records. Returns 0
 * if there is no memory. */
static int records_grow(void) {
  size_t count =
      records.bucket_count ? 2 * records.bucket_count : RECORD_BUCKETS_MIN;
  py_sp_span_record **buckets;
  size_t i;

  if (records.count < records.bucket_count)
    return 1;
  buckets = PyMem_Calloc(count, sizeof *buckets);
  if (!buckets)
    return 0;
  for (i = 0; i < records.bucket_count; i++) {
    py_sp_span_record *record = records.buckets[i];

    while (record) {
      py_sp_span_record *next = record->next_hash;

      record_link(buckets, count, record);
      record = next;
    }
  }
  PyMem_Free(records.buckets);
  records.buckets = buckets;
  records.bucket_count = count;
  return 1;
}

static void record_unlink(const py_sp_span_record *record) {
  py_sp_span_record **at;

  if (!records.buckets)
    return;
  at = &records.buckets[record_bucket(record->id, records.bucket_count)];
  while (*at && *at != record)
    at = &(*at)->next_hash;
  if (!*at)
    return;
  *at = record->next_hash;
  records.count--;
}

static void record_dealloc(PyObject *self) {
  py_sp_span_record *record = (py_sp_span_record *)self;

  record_unlink(record);
  py_sp_span_record_end(record);
  if (record->retained)
    spanprof_span_release(record->label.span);
  Py_XDECREF(record->name);
  Py_XDECREF(record->other);
  Py_TYPE(self)->tp_free(self);
}

/* Called when the SDK's span was freed: the record is the callback of its weak
 * reference `object`. */
static PyObject *record_span_freed(PyObject *self, PyObject *args,
                                   PyObject *kwargs) {
  py_sp_span_record *record = (py_sp_span_record *)self;

  (void)args;
  (void)kwargs;
  py_sp_span_record_end(record);
  record_recent_remove(record);
  Py_CLEAR(record->object);
  Py_RETURN_NONE;
}

PyTypeObject py_sp_span_record_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "spanprof._native.SpanRecord",
    .tp_basicsize = sizeof(py_sp_span_record),
    .tp_dealloc = record_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_call = record_span_freed,
};

/* Create a record with the ids and a weak reference to the SDK's span; other
 * fields are empty. Returns NULL with an exception on failure. */
static py_sp_span_record *record_alloc(uint64_t id, uint64_t trace_low,
                                       PyObject *object) {
  py_sp_span_record *record;

  if (!records_grow()) {
    PyErr_NoMemory();
    return NULL;
  }
  record = PyObject_New(py_sp_span_record, &py_sp_span_record_type);
  if (!record)
    return NULL;
  record->label.span = 0;
  record->label.carried = 0;
  record->label.labels = 0;
  record->label.mark = 0;
  record->label.record = NULL;
  record->label.block = NULL;
  record->id = id;
  record->trace_low = trace_low;
  record->retained = 0;
  record->ended = 1;
  record->name = NULL;
  record->address = NULL;
  record->other = NULL;
  record_link(records.buckets, records.bucket_count, record);
  records.count++;
  record->object = PyWeakref_NewRef(object, (PyObject *)record);
  if (!record->object) {
    Py_DECREF((PyObject *)record);
    return NULL;
  }
  record->address = object;
  *record_recent_slot(object) = record;
  return record;
}

py_sp_span_record *py_sp_span_record_new(spanprof_span span, uint64_t id,
                                         uint64_t trace_low, PyObject *name,
                                         PyObject *object) {
  py_sp_span_record *record = record_alloc(id, trace_low, object);

  if (!record) {
    spanprof_span_end(span);
    return NULL;
  }
  record->label.span = span;
  record->label.carried = spanprof_span_carried(span);
  record->ended = 0;
  record->retained = spanprof_span_retain(span);
  record->name = Py_NewRef(name);
  return record;
}

py_sp_span_record *py_sp_span_record_alias(py_sp_span_record *other,
                                           uint64_t id, uint64_t trace_low,
                                           PyObject *object) {
  py_sp_span_record *record = record_alloc(id, trace_low, object);

  if (!record)
    return NULL;
  record->label.span = other->label.span;
  record->label.carried = other->label.carried;
  record->other = (py_sp_span_record *)Py_NewRef((PyObject *)other);
  return record;
}

py_sp_span_record *py_sp_span_record_find(uint64_t id, uint64_t trace_low) {
  py_sp_span_record *record = NULL;

  if (records.bucket_count)
    record = records.buckets[record_bucket(id, records.bucket_count)];
  while (record && (record->id != id || record->trace_low != trace_low))
    record = record->next_hash;
  return record;
}

py_sp_span_record *py_sp_span_record_recent(const PyObject *object) {
  py_sp_span_record *record = *record_recent_slot(object);

  return record && record->address == object ? record : NULL;
}

void py_sp_span_record_rename(py_sp_span_record *record, PyObject *name) {
  PyObject *keep;
  const char *text;
  size_t bytes;

  if (!name || name == record->name)
    return;
  text = py_sp_utf8(name, &bytes, &keep);
  if (text) {
    spanprof_span_rename(record->label.span, text, bytes);
    Py_XSETREF(record->name, Py_NewRef(name));
  }
  PyErr_Clear();
  Py_XDECREF(keep);
}

void py_sp_span_record_end(py_sp_span_record *record) {
  if (record->ended)
    return;
  record->ended = 1;
  spanprof_span_end(record->label.span);
}
