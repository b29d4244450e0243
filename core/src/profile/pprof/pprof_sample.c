#include "pprof_sample.h"

#include "varint.h"

/* Tags of one byte for fields of Sample and Label in profile.proto. The low
 * bits are the wire type: 0 for a number, 2 for bytes that follow their
 * length. */
#define SAMPLE_LOCATIONS  (1 << 3 | 2)
#define SAMPLE_VALUES     (2 << 3 | 2)
#define SAMPLE_LABEL      (3 << 3 | 2)
#define SAMPLE_LABEL_KEY  (1 << 3)
#define SAMPLE_LABEL_STR  (2 << 3)
#define SAMPLE_LABEL_NUM  (3 << 3)
#define SAMPLE_LABEL_UNIT (4 << 3)

static size_t sample_numbers_size(const uint64_t *numbers, size_t count) {
  size_t size = 0, i;

  for (i = 0; i < count; i++)
    size += sp_varint_size(numbers[i]);
  return size;
}

/* The size of a packed field with its tag. An empty field has the size 0,
 * because it is not written, as in proto3. */
static size_t sample_packed_size(const uint64_t *numbers, size_t count) {
  const size_t size = sample_numbers_size(numbers, count);

  return count ? 1 + sp_varint_size(size) + size : 0;
}

static uint8_t *sample_put_packed(uint8_t *p, uint8_t tag,
                                  const uint64_t *numbers, size_t count) {
  size_t i;

  if (count == 0)
    return p;
  *p++ = tag;
  p = sp_varint_put(p, sample_numbers_size(numbers, count));
  for (i = 0; i < count; i++)
    p = sp_varint_put(p, numbers[i]);
  return p;
}

static size_t sample_number_size(int64_t number) {
  return number ? 1 + sp_varint_size((uint64_t)number) : 0;
}

static uint8_t *sample_put_number(uint8_t *p, uint8_t tag, int64_t number) {
  if (number == 0)
    return p;
  *p++ = tag;
  return sp_varint_put(p, (uint64_t)number);
}

static size_t sample_label_size(const Perftools__Profiles__Label *label) {
  return sample_number_size(label->key) + sample_number_size(label->str) +
         sample_number_size(label->num) + sample_number_size(label->num_unit);
}

static uint8_t *sample_put_label(uint8_t *p,
                                 const Perftools__Profiles__Label *label) {
  *p++ = SAMPLE_LABEL;
  p = sp_varint_put(p, sample_label_size(label));
  p = sample_put_number(p, SAMPLE_LABEL_KEY, label->key);
  p = sample_put_number(p, SAMPLE_LABEL_STR, label->str);
  p = sample_put_number(p, SAMPLE_LABEL_NUM, label->num);
  return sample_put_number(p, SAMPLE_LABEL_UNIT, label->num_unit);
}

/* A signed number is encoded like the unsigned number that has the same
 * bits. */
static const uint64_t *
sample_values(const Perftools__Profiles__Sample *sample) {
  return (const uint64_t *)sample->value;
}

size_t sp_pprof_sample_size(const Perftools__Profiles__Sample *sample) {
  size_t size = sample_packed_size(sample->location_id, sample->n_location_id) +
                sample_packed_size(sample_values(sample), sample->n_value);
  size_t i;

  for (i = 0; i < sample->n_label; i++) {
    const size_t label = sample_label_size(sample->label[i]);

    size += 1 + sp_varint_size(label) + label;
  }
  return size;
}

uint8_t *sp_pprof_sample_put(uint8_t *p,
                             const Perftools__Profiles__Sample *sample) {
  size_t i;

  p = sample_put_packed(p, SAMPLE_LOCATIONS, sample->location_id,
                        sample->n_location_id);
  p = sample_put_packed(p, SAMPLE_VALUES, sample_values(sample),
                        sample->n_value);
  for (i = 0; i < sample->n_label; i++)
    p = sample_put_label(p, sample->label[i]);
  return p;
}
