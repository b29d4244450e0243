/* Makes a store with a week of data from a store with one hour:
 *
 * bench_server_grow DIRECTORY HOURS
 *
 * Each full block is copied HOURS times, each time one hour earlier and with
 * different span ids. Smaller blocks, which the server would compact later, are
 * not copied. The copies are written in the order of their times, as a server
 * would write them. The compressed samples are copied unchanged, so this needs
 * only minutes. Prints a line of JSON: the size, and a span in the middle, for
 * which a query can search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <server/store/select/wide_filter.h>
#include <util/memory/hash.h>
#include <util/system/status.h>

#define BLOCKS_MAX 256
#define HOUR_NS    INT64_C(3600000000000)

typedef struct grow_block {
  uint32_t source;
  sp_block block; /* only its head and its spans are read */
  sp_buffer totals;
  sp_buffer body;
} grow_block;

typedef struct grow {
  grow_block blocks[BLOCKS_MAX];
  size_t count;
  size_t at; /* index of the block to write next */
  int64_t hour;
  uint64_t seed;
  /* The span for which a query can search: */
  uint64_t span_id;
  int64_t span_value;
  int64_t span_ms;
  int64_t first_ms;
} grow;

static void check(spanprof_status st, const char *what) {
  if (!st)
    return;
  fprintf(stderr, "%s: %s\n", what, spanprof_last_error());
  exit(1);
}

#define BLOB(row, column)               \
  sqlite3_column_blob((row), (column)), \
      (size_t)sqlite3_column_bytes((row), (column))

static void read_blocks(grow *all, sp_store *store) {
  sqlite3_stmt *rows = NULL;
  sp_store_reader *reader;
  int code;

  check(sp_store_reader_acquire(store, &reader), "reader");
  check(sp_database_prepare(reader->db, &rows,
                            "SELECT source, head, totals, spans, body FROM "
                            "block WHERE profiles>=512 ORDER BY id"),
        "blocks");
  while (all->count < BLOCKS_MAX && !sp_database_step(rows, &code) &&
         code == SQLITE_ROW) {
    grow_block *one = &all->blocks[all->count++];

    sp_block_init(&one->block, &sp_mem_default);
    sp_buffer_init(&one->totals, &sp_mem_default);
    sp_buffer_init(&one->body, &sp_mem_default);
    one->source = (uint32_t)sqlite3_column_int64(rows, 0);
    check(sp_block_read_head(&one->block, BLOB(rows, 1)), "head");
    sp_buffer_append(&one->totals, BLOB(rows, 2));
    check(sp_block_read_spans(&one->block, BLOB(rows, 3)), "spans");
    sp_buffer_append(&one->body, BLOB(rows, 4));
  }
  sqlite3_finalize(rows);
  sp_store_reader_release(store, reader);
}

static int order(const void *a_of, const void *b_of) {
  const sp_block_span *a = a_of, *b = b_of;

  return a->span_id < b->span_id ? -1 : a->span_id > b->span_id;
}

/* Give the block's spans other ids, in ascending order. The body has only the
 * indexes of spans, so it stays valid. */
static void make_spans(grow *all, sp_block *block) {
  size_t i;

  for (i = 0; i < block->span_count; i++) {
    all->seed = sp_hash_mix(all->seed + 1, SP_HASH_SEED);
    block->spans[i].span_id = all->seed | 1;
  }
  if (block->span_count)
    qsort(block->spans, block->span_count, sizeof *block->spans, order);
}

/* Remember one of the block's spans, with its CPU time. */
static void choose_span(grow *all, const grow_block *one) {
  sp_block block;
  size_t i;

  sp_block_init(&block, &sp_mem_default);
  block.type_count = one->block.type_count;
  for (i = 0; i < one->block.profile_count; i++)
    check(sp_block_add_profile(&block, &one->block.profiles[i]), "profile");
  for (i = 0; i < one->block.series_count; i++)
    check(sp_block_add_series(&block, one->block.series[i].id), "series");
  for (i = 0; i < one->block.span_count; i++)
    check(sp_block_add_span(&block, &one->block.spans[i]), "span");
  check(sp_block_read_body(&block, one->body.data, one->body.size), "body");
  all->span_id = block.spans[block.span_count / 2].span_id;
  all->span_value = 0;
  all->span_ms = block.profiles[0].time_ns / 1000000;
  for (i = 0; i < block.sample_count; i++)
    if (block.samples[i].span == block.span_count / 2 + 1)
      all->span_value += block.values[block.samples[i].values];
  sp_block_dispose(&block);
}

static spanprof_status write_block(sp_writer *writer, void *data) {
  grow *all = data;
  grow_block *one = &all->blocks[all->at];
  sp_block_parts parts;
  spanprof_status st;
  size_t i;

  sp_block_parts_init(&parts, &sp_mem_default);
  for (i = 0; i < one->block.profile_count; i++)
    one->block.profiles[i].time_ns -= all->hour * HOUR_NS;
  make_spans(all, &one->block);
  st = sp_block_write(&one->block, &parts); /* `block` has no samples, so only
                                             * the head, the filter and the
                                             * spans are used */
  sp_buffer_clear(&parts.totals);
  sp_buffer_append(&parts.totals, one->totals.data, one->totals.size);
  sp_buffer_clear(&parts.body);
  sp_buffer_append(&parts.body, one->body.data, one->body.size);
  if (!st)
    st = sp_store_insert_block(
        writer, one->source, one->block.profiles[0].time_ns,
        one->block.profiles[one->block.profile_count - 1].time_ns,
        one->block.profile_count, NULL, &parts);
  if (!all->first_ms)
    all->first_ms = one->block.profiles[0].time_ns / 1000000;
  sp_block_parts_dispose(&parts);
  return st;
}

static void write_hour(grow *all, sp_store *store, bool choose) {
  size_t i;

  for (all->at = 0; all->at < all->count; all->at++) {
    sp_block *block = &all->blocks[all->at].block;

    check(sp_writer_call(&store->writer, write_block, all), "write");
    if (choose && all->at == all->count / 2)
      choose_span(all, &all->blocks[all->at]);
    for (i = 0; i < block->profile_count; i++)
      block->profiles[i].time_ns += all->hour * HOUR_NS;
  }
}

int main(int argc, char **argv) {
  static grow all = {.seed = 1};
  sp_store_options options = {.mem = &sp_mem_default,
                              .clock = sp_clock_system()};
  sp_store *store;
  char path[4096];
  struct stat file;
  sp_log log;
  int64_t hours;
  size_t i;

  if (argc != 3 || (hours = atoi(argv[2])) < 1) {
    fprintf(stderr, "usage: %s DIRECTORY HOURS\n", argv[0]);
    return 2;
  }
  sp_log_init(&log, NULL, NULL, SPANPROF_LOG_OFF, options.clock);
  snprintf(path, sizeof path, "%s/spanprof.db", argv[1]);
  options.log = &log;
  options.path = path;
  check(sp_store_open(&store, &options), "open");
  read_blocks(&all, store);
  for (all.hour = hours; all.hour > 0; all.hour--)
    write_hour(&all, store, all.hour == hours / 2 + 1);
  check(sp_wide_filter_update(store), "wide filters");
  sp_store_close(store);
  printf("{\"blocks\": %llu, \"file_bytes\": %lld, \"span\": \"%016llx\", "
         "\"span_value\": \"%lld\", \"span_ms\": %lld, \"from_ms\": %lld}\n",
         (unsigned long long)(all.count * (size_t)(hours + 1)),
         stat(path, &file) ? 0LL : (long long)file.st_size,
         (unsigned long long)all.span_id, (long long)all.span_value,
         (long long)all.span_ms, (long long)all.first_ms);
  for (i = 0; i < all.count; i++) {
    sp_block_dispose(&all.blocks[i].block);
    sp_buffer_dispose(&all.blocks[i].totals);
    sp_buffer_dispose(&all.blocks[i].body);
  }
  return 0;
}
