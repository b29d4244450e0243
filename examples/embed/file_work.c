#include "file_work.h"

#include <openssl/evp.h>
#include <spanprof/spanprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <zlib.h>

/* Maximum number of bytes of a file that are processed, and of its text that
 * are indexed. */
#define FILE_WORK_BYTES      (4u << 20)
#define FILE_WORK_TEXT_BYTES (256u << 10)
#define FILE_WORK_HEX_BYTES  (2 * EVP_MAX_MD_SIZE + 1)

/* The steps of the work on a file. `step_texts` has their interned names. */
enum { STEP_READ, STEP_HASH, STEP_COMPRESS, STEP_INDEX, STEP_COUNT };

static const char *const step_names[STEP_COUNT] = {"read", "hash", "compress",
                                                   "index"};
static spanprof_text_id step_label;
static spanprof_text_id step_texts[STEP_COUNT];

static double thread_cpu_s(void) {
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Label the samples of this thread with the step. If memory for the label runs
 * out, the step has no label. */
static spanprof_label_token step_begin(int step) {
  spanprof_label_token token = 0;

  spanprof_label_push_ids(step_label, step_texts[step], &token);
  return token;
}

static size_t file_read(file_work *work, const char *path) {
  FILE *file = fopen(path, "rb");
  size_t size = 0;

  if (file) {
    size = fread(work->bytes, 1, FILE_WORK_BYTES, file);
    fclose(file);
  }
  return size;
}

static int file_hash(const unsigned char *bytes, size_t size,
                     char hex[FILE_WORK_HEX_BYTES]) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0, i;

  if (EVP_Digest(bytes, size, digest, &length, EVP_sha256(), NULL) != 1)
    return -1;
  for (i = 0; i < length; i++)
    snprintf(hex + 2 * i, 3, "%02x", digest[i]);
  return 0;
}

static int file_is_text(file_kind kind) {
  return kind != FILE_KIND_COMPRESSED && kind != FILE_KIND_OTHER;
}

static int file_steps(file_work *work, const file_entry *entry) {
  spanprof_label_token token;
  char hex[FILE_WORK_HEX_BYTES] = "";
  file_record record = {
      .path = entry->path, .kind = file_kind_name(entry->kind), .sha256 = hex};
  uLongf packed_bytes = compressBound(FILE_WORK_BYTES);
  int result;

  token = step_begin(STEP_READ);
  record.bytes = file_read(work, entry->path);
  spanprof_label_pop(token);

  token = step_begin(STEP_HASH);
  result = file_hash(work->bytes, record.bytes, hex);
  spanprof_label_pop(token);
  if (result != 0) {
    fprintf(stderr, "embed: %s: cannot be hashed\n", entry->path);
    return -1;
  }

  token = step_begin(STEP_COMPRESS);
  result = compress2(work->packed, &packed_bytes, work->bytes,
                     (uLong)record.bytes, Z_DEFAULT_COMPRESSION);
  spanprof_label_pop(token);
  if (result != Z_OK) {
    fprintf(stderr, "embed: %s: cannot be compressed\n", entry->path);
    return -1;
  }

  record.packed_bytes = packed_bytes;
  if (file_is_text(entry->kind)) {
    record.text = (const char *)work->bytes;
    record.text_bytes = record.bytes < FILE_WORK_TEXT_BYTES
                            ? record.bytes
                            : FILE_WORK_TEXT_BYTES;
  }
  token = step_begin(STEP_INDEX);
  result = file_index_add(work->index, &record);
  spanprof_label_pop(token);
  work->totals[entry->kind].files++;
  work->totals[entry->kind].bytes += record.bytes;
  return result;
}

int file_work_prepare(void) {
  int i;

  if (spanprof_text_intern("step", 4, &step_label) != SPANPROF_OK)
    goto failed;
  for (i = 0; i < STEP_COUNT; i++)
    if (spanprof_text_intern(step_names[i], strlen(step_names[i]),
                             &step_texts[i]) != SPANPROF_OK)
      goto failed;
  return 0;

failed:
  fprintf(stderr, "embed: %s\n", spanprof_last_error());
  return -1;
}

int file_work_init(file_work *work, file_index *index, trace_sender *traces) {
  memset(work, 0, sizeof *work);
  work->index = index;
  work->traces = traces;
  work->bytes = malloc(FILE_WORK_BYTES);
  work->packed = malloc(compressBound(FILE_WORK_BYTES));
  if (work->bytes && work->packed)
    return 0;
  fprintf(stderr, "embed: out of memory\n");
  file_work_free(work);
  return -1;
}

static int64_t clock_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Fill in the data that a tracing library stores for a span when it starts. */
static void trace_begin(trace_span *trace, const file_entry *entry,
                        spanprof_span_info *info) {
  memset(trace, 0, sizeof *trace);
  trace->name = info->name;
  trace->start_ns = clock_ns();
  snprintf(trace->path, sizeof trace->path, "%s", entry->path);
  /* getrandom(2) never returns fewer bytes than requested if the request is for
   * at most 256 bytes. */
  if (getrandom(trace->trace_id, sizeof trace->trace_id, 0) < 0 ||
      getrandom(trace->span_id, sizeof trace->span_id, 0) < 0)
    return; /* spanprof itself creates ids for a span without ids */
  memcpy(info->trace_id, trace->trace_id, sizeof info->trace_id);
  memcpy(info->span_id, trace->span_id, sizeof info->span_id);
}

/* Read the attribute that links the trace to the span's profile. */
static void trace_link(trace_span *trace, spanprof_span span) {
  size_t length;

  if (spanprof_span_attribute_get(NULL, span, SPANPROF_ATTRIBUTE_PROFILE_ID,
                                  trace->profile_id, sizeof trace->profile_id,
                                  &length) != SPANPROF_OK)
    trace->profile_id[0] = '\0';
}

int file_work_do(file_work *work, const file_entry *entry) {
  const char *name = file_kind_name(entry->kind);
  spanprof_span_info info = {
      .struct_size = sizeof info, .name = name, .name_bytes = strlen(name)};
  spanprof_span_token token = 0;
  spanprof_span span = 0;
  trace_span trace;
  double before = thread_cpu_s();
  int result;

  trace_begin(&trace, entry, &info);
  /* If the start fails, `span` is 0 ("no span"), which the calls below accept.
   */
  spanprof_span_start(NULL, &info, &span);
  trace_link(&trace, span);
  spanprof_span_enter(span, &token);
  result = file_steps(work, entry);
  spanprof_span_leave(token);
  spanprof_span_end(span);
  trace.end_ns = clock_ns();
  trace_sender_add(work->traces, &trace);
  work->totals[entry->kind].cpu_s += thread_cpu_s() - before;
  return result;
}

void file_work_free(file_work *work) {
  free(work->bytes);
  free(work->packed);
  memset(work, 0, sizeof *work);
}
