/* Reads blocks of the store, as a damaged file may contain them. The input has
 * three numbers of four bytes (the lengths of head, spans and totals), these
 * parts, and the body. The block that was read must have only valid references,
 * and must be the same after it was sorted, written and read again. */
#include <stdlib.h>
#include <string.h>

#include "server/store/block/block.h"
#include "server/store/block/id_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct part {
  const uint8_t *bytes;
  size_t size;
} part;

static part part_split(part *remaining, size_t size) {
  const part first = {remaining->bytes,
                      size < remaining->size ? size : remaining->size};

  remaining->bytes += first.size;
  remaining->size -= first.size;
  return first;
}

static size_t length(part *remaining) {
  const part four = part_split(remaining, 4);
  uint32_t number = 0;

  if (four.size == 4)
    memcpy(&number, four.bytes, 4);
  return number;
}

static void check(const sp_block *block, size_t profiles) {
  size_t i;

  for (i = 0; i < block->sample_count; i++) {
    const sp_block_sample *sample = &block->samples[i];

    if (sample->profile >= profiles || sample->series >= block->series_count ||
        sample->span > block->span_count ||
        sample->values + block->type_count > block->value_count)
      abort();
  }
}

static void again(sp_block *block) {
  sp_block_parts parts;
  sp_block other;

  if (sp_block_sort(block))
    abort();
  sp_block_init(&other, &sp_mem_default);
  sp_block_parts_init(&parts, &sp_mem_default);
  if (sp_block_write(block, &parts) ||
      sp_block_read_head(&other, parts.head.data, parts.head.size) ||
      sp_block_read_spans(&other, parts.spans.data, parts.spans.size) ||
      sp_block_read_body(&other, parts.body.data, parts.body.size) ||
      other.profile_count != block->profile_count ||
      other.series_count != block->series_count ||
      other.span_count != block->span_count ||
      other.sample_count != block->sample_count)
    abort();
  check(&other, other.profile_count);
  sp_block_parts_dispose(&parts);
  sp_block_dispose(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  part remaining = {data, size}, head, spans, totals;
  size_t lengths[3];
  sp_block block;
  size_t i;

  for (i = 0; i < 3; i++)
    lengths[i] = length(&remaining);
  head = part_split(&remaining, lengths[0]);
  spans = part_split(&remaining, lengths[1]);
  totals = part_split(&remaining, lengths[2]);
  sp_block_init(&block, &sp_mem_default);
  if (!sp_block_read_head(&block, head.bytes, head.size) &&
      !sp_block_read_spans(&block, spans.bytes, spans.size)) {
    if (totals.size && !sp_block_read_totals(&block, totals.bytes, totals.size))
      check(&block, 1);
    if (!sp_block_read_body(&block, remaining.bytes, remaining.size) &&
        block.profile_count) {
      check(&block, block.profile_count);
      again(&block);
    }
  }
  sp_id_filter_has(data, size, sp_id_span_key(size));
  sp_block_dispose(&block);
  return 0;
}
