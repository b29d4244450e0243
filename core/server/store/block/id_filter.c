#include "id_filter.h"

#include "stored_hash.h"

/* Number of ids for which a filter has one line. With 10 bits of space for each
 * id, which sets 6 bits, 1.2 % of the lookups are false positives. */
#define FILTER_IDS_A_LINE 51
#define FILTER_PROBES     6

uint64_t sp_id_span_key(uint64_t span_id) {
  return sp_stored_mix(SP_STORED_SEED, span_id);
}

uint64_t sp_id_trace_key(uint64_t hi, uint64_t lo) {
  return sp_stored_mix(sp_stored_mix(SP_STORED_SEED2, hi), lo);
}

size_t sp_id_filter_bytes(size_t ids) {
  return (ids / FILTER_IDS_A_LINE + 1) * SP_ID_FILTER_LINE_BYTES;
}

/* Returns the position within the line of one of the key's six bits. It is
 * computed from nine bits of the key. */
static uint32_t filter_bit(uint64_t key, int probe) {
  return (uint32_t)(key >> (probe * 9)) & (SP_ID_FILTER_LINE_BYTES * 8 - 1);
}

size_t sp_id_filter_line(uint64_t key, size_t size) {
  const uint64_t lines = size / SP_ID_FILTER_LINE_BYTES;

  return (size_t)(((unsigned __int128)sp_stored_mix(key, lines) * lines) >>
                  64) *
         SP_ID_FILTER_LINE_BYTES;
}

bool sp_id_filter_line_has(const void *line_of, uint64_t key) {
  const uint8_t *line = line_of;
  int i;

  for (i = 0; i < FILTER_PROBES; i++) {
    const uint32_t bit = filter_bit(key, i);

    if (!(line[bit / 8] & 1u << (bit % 8)))
      return false;
  }
  return true;
}

bool sp_id_filter_has(const void *filter, size_t size, uint64_t key) {
  return size >= SP_ID_FILTER_LINE_BYTES &&
         sp_id_filter_line_has(
             (const uint8_t *)filter + sp_id_filter_line(key, size), key);
}

void sp_id_filter_add(void *filter, size_t size, uint64_t key) {
  uint8_t *line = (uint8_t *)filter + sp_id_filter_line(key, size);
  int i;

  for (i = 0; i < FILTER_PROBES; i++) {
    const uint32_t bit = filter_bit(key, i);

    line[bit / 8] |= (uint8_t)(1u << (bit % 8));
  }
}
