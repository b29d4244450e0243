#include "shop.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <server/store/block/columns.h>
#include <util/memory/hash_index.h>

/* ---- Protobuf ---- */

void shop_field(sp_buffer *out, uint32_t field, const void *bytes,
                size_t size) {
  sp_put_number(out, field << 3 | 2);
  sp_put_number(out, size);
  sp_buffer_append(out, bytes, size);
}

static void shop_text(sp_buffer *out, uint32_t field, const char *text) {
  shop_field(out, field, text, strlen(text));
}

void shop_number(sp_buffer *out, uint32_t field, uint64_t number) {
  sp_put_number(out, field << 3);
  sp_put_number(out, number);
}

/* Write a message with two numbers: a type with its unit, a label, or a line.
 */
static void shop_pair(sp_buffer *out, uint32_t field, uint64_t a, uint64_t b,
                      uint32_t field_b) {
  sp_buffer pair;

  sp_buffer_init(&pair, out->mem);
  shop_number(&pair, 1, a);
  shop_number(&pair, field_b, b);
  shop_field(out, field, pair.data, pair.size);
  sp_buffer_dispose(&pair);
}

/* ---- A profile that is made up ---- */

/* Indexes in the table of texts. The names and ids of spans, the functions and
 * the files follow from TEXT_NAMES on. */
enum { TEXT_CPU = 1, TEXT_NS, TEXT_SPAN_ID, TEXT_SPAN_NAME, TEXT_NAMES };

#define SHOP_NAMES 10
#define SHOP_FILES 40

/* The number that stands for no span. */
#define SHOP_NO_SPAN UINT32_MAX

typedef struct shop_maker {
  sp_buffer *out;
  const shop_shape *shape;
  uint32_t application;
  uint64_t random;
  uint32_t spans;
} shop_maker;

static uint32_t shop_random(shop_maker *maker, uint32_t below) {
  maker->random ^= maker->random << 13;
  maker->random ^= maker->random >> 7;
  maker->random ^= maker->random << 17;
  return (uint32_t)(maker->random % below);
}

/* Returns the function of a frame. Many stacks have the same outer frames, as
 * in a call tree; only the four innermost frames differ in all stacks. */
static uint32_t shop_function(const shop_maker *maker, uint32_t stack,
                              uint32_t depth) {
  const uint32_t inner = maker->shape->depth - 4;
  const uint32_t part = stack >> (depth < inner ? 9 - 8 * depth / inner : 0);

  return (uint32_t)(sp_hash_mix(sp_hash_mix(SP_HASH_SEED, depth), part) %
                    maker->shape->functions);
}

static void shop_sample(shop_maker *maker, uint32_t stack, uint32_t span) {
  const uint32_t depth = maker->shape->depth;
  sp_buffer sample, inner;
  uint32_t i;

  sp_buffer_init(&sample, maker->out->mem);
  sp_buffer_init(&inner, maker->out->mem);
  for (i = depth; i > 0; i--)
    sp_put_number(&inner, shop_function(maker, stack, i - 1) + 1);
  shop_field(&sample, 1, inner.data, inner.size);
  sp_buffer_clear(&inner);
  sp_put_number(&inner, shop_random(maker, 5) ? 10000000 : 20000000);
  shop_field(&sample, 2, inner.data, inner.size);
  if (span != SHOP_NO_SPAN) {
    shop_pair(&sample, 3, TEXT_SPAN_ID, TEXT_NAMES + SHOP_NAMES + span, 2);
    shop_pair(&sample, 3, TEXT_SPAN_NAME, TEXT_NAMES + span % SHOP_NAMES, 2);
  }
  shop_field(maker->out, 2, sample.data, sample.size);
  sp_buffer_dispose(&sample);
  sp_buffer_dispose(&inner);
}

static void shop_samples(shop_maker *maker) {
  const shop_shape *shape = maker->shape;
  uint32_t i;

  for (i = 0; i < shape->samples; i++) {
    const uint32_t stack =
        i < shape->stacks ? i : shop_random(maker, shape->stacks);
    uint32_t span = SHOP_NO_SPAN;

    if (shape->spans > shape->samples)
      span = i;
    else if (shape->spans)
      span = i < shape->spans ? i : shop_random(maker, shape->spans);
    shop_sample(maker, stack, span);
  }
}

/* Write one location for each function. */
static void shop_functions(shop_maker *maker) {
  const uint32_t first = TEXT_NAMES + SHOP_NAMES + maker->spans;
  const uint32_t count = maker->shape->functions;
  sp_buffer one;
  uint32_t i;

  sp_buffer_init(&one, maker->out->mem);
  for (i = 0; i < count; i++) {
    sp_buffer_clear(&one);
    shop_number(&one, 1, i + 1);
    shop_pair(&one, 4, i + 1, i % 200 + 5, 2);
    shop_field(maker->out, 4, one.data, one.size);
    sp_buffer_clear(&one);
    shop_number(&one, 1, i + 1);
    shop_number(&one, 2, first + i);
    shop_number(&one, 4, first + count + i % SHOP_FILES);
    shop_number(&one, 5, i % 200);
    shop_field(maker->out, 5, one.data, one.size);
  }
  sp_buffer_dispose(&one);
}

static void shop_texts(shop_maker *maker) {
  static const char *const first[] = {"", "cpu", "nanoseconds", "span_id",
                                      "span_name"};
  char text[64];
  uint32_t i;

  for (i = 0; i < TEXT_NAMES; i++)
    shop_text(maker->out, 6, first[i]);
  for (i = 0; i < SHOP_NAMES; i++) {
    snprintf(text, sizeof text, "GET /orders/%u", i);
    shop_text(maker->out, 6, text);
  }
  for (i = 0; i < maker->spans; i++) {
    snprintf(text, sizeof text, "%08x%08x", shop_random(maker, UINT32_MAX),
             shop_random(maker, UINT32_MAX));
    shop_text(maker->out, 6, text);
  }
  for (i = 0; i < maker->shape->functions; i++) {
    snprintf(text, sizeof text, "Shop%u::Orders%u#handle_%u",
             maker->application, i % SHOP_FILES, i);
    shop_text(maker->out, 6, text);
  }
  for (i = 0; i < SHOP_FILES; i++) {
    snprintf(text, sizeof text, "/srv/app%u/lib/orders_%u.rb",
             maker->application, i);
    shop_text(maker->out, 6, text);
  }
}

void shop_profile(sp_buffer *out, const shop_shape *shape, uint32_t application,
                  uint32_t variant) {
  shop_maker maker = {.out = out,
                      .shape = shape,
                      .application = application,
                      .spans = shape->spans > shape->samples ? shape->samples
                                                             : shape->spans};

  maker.random =
      sp_hash_mix(sp_hash_mix(SP_HASH_SEED, application), variant) | 1;
  shop_pair(out, 1, TEXT_CPU, TEXT_NS, 2);
  shop_pair(out, 11, TEXT_CPU, TEXT_NS, 2);
  shop_number(out, 12, 10000000);
  shop_number(out, 10, UINT64_C(10000000000));
  shop_samples(&maker);
  shop_functions(&maker);
  shop_texts(&maker);
}

/* ---- Uploads of a profile ---- */

/* A field of a protobuf message: its number, and its bytes or its value. */
typedef struct shop_part {
  uint64_t field;
  uint64_t value;
  const uint8_t *bytes;
} shop_part;

static bool shop_next(sp_column_reader *reader, shop_part *part) {
  const uint64_t key = sp_get_number(reader);

  part->field = key >> 3;
  part->value = sp_get_number(reader);
  part->bytes = reader->at;
  if ((key & 7) == 2) {
    if (part->value > (uint64_t)(reader->end - reader->at))
      return false;
    reader->at += part->value;
  }
  return !reader->broken && ((key & 7) == 2 || (key & 7) == 0);
}

static bool shop_look(shop_template *out, const void *pprof, size_t size) {
  sp_column_reader reader = sp_column_reader_of(pprof, size);
  shop_part part;

  while (reader.at < reader.end) {
    if (!shop_next(&reader, &part))
      return false;
    out->type_count += part.field == 1;
    out->texts += part.field == 6;
    if (part.field == 4 && !out->location) {
      sp_column_reader inner = sp_column_reader_of(part.bytes, part.value);
      shop_part id;

      if (!shop_next(&inner, &id) || id.field != 1)
        return false;
      out->location = id.value;
    }
  }
  return out->type_count && out->texts && out->location;
}

bool shop_template_make(shop_template *out, const void *pprof, size_t size) {
  z_stream z = {0};

  memset(out, 0, sizeof *out);
  sp_buffer_init(&out->packed, &sp_mem_default);
  if (!shop_look(out, pprof, size) ||
      deflateInit2(&z, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY))
    return false;
  sp_buffer_append(&out->packed, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  if (!sp_buffer_reserve(&out->packed, deflateBound(&z, size) + 16))
    return false;
  z.next_in = (Bytef *)(uintptr_t)pprof;
  z.avail_in = (uInt)size;
  z.next_out = (Bytef *)out->packed.data + out->packed.size;
  z.avail_out = (uInt)(out->packed.capacity - out->packed.size);
  deflate(&z, Z_FULL_FLUSH); /* ends at a byte boundary, so that other blocks
                              * may follow */
  out->packed.size = (size_t)((char *)z.next_out - out->packed.data);
  deflateEnd(&z);
  out->crc = (uint32_t)crc32(0, pprof, (uInt)size);
  out->size = size;
  return true;
}

void shop_template_dispose(shop_template *made) {
  sp_buffer_dispose(&made->packed);
}

static void shop_end_write(sp_buffer *out, const shop_template *from,
                           const shop_end *end) {
  sp_buffer sample, values;
  char text[20];
  size_t i;

  sp_buffer_init(&sample, out->mem);
  sp_buffer_init(&values, out->mem);
  shop_number(&sample, 1, from->location);
  for (i = 0; i < from->type_count; i++)
    sp_put_number(&values, (uint64_t)end->value_ns);
  shop_field(&sample, 2, values.data, values.size);
  shop_pair(&sample, 3, from->texts, from->texts + 1, 2);
  shop_field(out, 2, sample.data, sample.size);
  snprintf(text, sizeof text, "%016llx", (unsigned long long)end->span_id);
  shop_text(out, 6, "span_id");
  shop_text(out, 6, text);
  shop_number(out, 9, (uint64_t)end->time_ns);
  sp_buffer_dispose(&sample);
  sp_buffer_dispose(&values);
}

void shop_upload(sp_buffer *out, const shop_template *from,
                 const shop_end *end) {
  uint32_t sums[2];
  uint16_t sizes[2];
  sp_buffer tail;

  sp_buffer_init(&tail, out->mem);
  shop_end_write(&tail, from, end);
  sp_buffer_append(out, from->packed.data, from->packed.size);
  sp_buffer_append(out, "\x01", 1); /* the last deflate block, which is stored
                                     * without compression */
  sizes[0] = (uint16_t)tail.size;
  sizes[1] = (uint16_t)~tail.size;
  sp_buffer_append(out, sizes, sizeof sizes);
  sp_buffer_append(out, tail.data, tail.size);
  sums[0] =
      (uint32_t)crc32(from->crc, (const Bytef *)tail.data, (uInt)tail.size);
  sums[1] = (uint32_t)(from->size + tail.size);
  sp_buffer_append(out, sums, sizeof sums);
  sp_buffer_dispose(&tail);
}

static void shop_label(sp_buffer *out, const char *name, const char *value) {
  sp_buffer pair;

  sp_buffer_init(&pair, out->mem);
  shop_text(&pair, 1, name);
  shop_text(&pair, 2, value);
  shop_field(out, 1, pair.data, pair.size);
  sp_buffer_dispose(&pair);
}

void shop_push(sp_buffer *out, const char *service, const sp_buffer *gzipped) {
  sp_buffer series, sample;

  sp_buffer_init(&series, out->mem);
  sp_buffer_init(&sample, out->mem);
  shop_label(&series, "__name__", "process_cpu");
  shop_label(&series, "service_name", service);
  shop_field(&sample, 1, gzipped->data, gzipped->size);
  shop_field(&series, 2, sample.data, sample.size);
  shop_field(out, 1, series.data, series.size);
  sp_buffer_dispose(&series);
  sp_buffer_dispose(&sample);
}

bool shop_read(const char *path, sp_buffer *out) {
  gzFile file = gzopen(path, "rb"); /* reads uncompressed files, too */
  char bytes[65536];
  int n = -1;

  while (file && (n = gzread(file, bytes, sizeof bytes)) > 0)
    sp_buffer_append(out, bytes, (size_t)n);
  if (file)
    gzclose(file);
  if (n < 0)
    fprintf(stderr, "cannot read %s\n", path);
  return n == 0 && !sp_buffer_status(out);
}
