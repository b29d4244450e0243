#include "report_comments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/system/status.h"
#include "util/text/number.h"

#define COMMENT_NUMBERS_MAX 16
#define COMMENT_BYTES_MAX   400

/* Prefixes of the comments with counters, which collect/comments.c writes. */
static const char *const comment_counters[] = {
    "samples: ", "ticks: ", "stacks: ", "threads: ", "cost: "};

void sp_report_comments_init(sp_report_comments *comments, const sp_mem *mem) {
  memset(comments, 0, sizeof *comments);
  sp_name_table_init(&comments->names, mem);
}

void sp_report_comments_dispose(sp_report_comments *comments) {
  const sp_mem *mem = comments->names.mem;

  sp_mem_free(mem, comments->items);
  sp_index_dispose(&comments->index, mem);
  sp_name_table_dispose(&comments->names);
  sp_report_comments_init(comments, mem);
}

static bool comment_is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Write the form of a text: each number is replaced by `#`. Returns its size.
 */
static size_t comment_form(const char *text, char out[COMMENT_BYTES_MAX]) {
  size_t bytes = 0;

  for (; *text && bytes < COMMENT_BYTES_MAX; text++)
    if (!comment_is_digit(*text))
      out[bytes++] = *text;
    else if (bytes == 0 || out[bytes - 1] != '#')
      out[bytes++] = '#';
  return bytes;
}

static bool comment_counts(const char *text) {
  size_t i;

  for (i = 0; i < SP_COUNT_OF(comment_counters); i++)
    if (!strncmp(text, comment_counters[i], strlen(comment_counters[i])))
      return true;
  return false;
}

static bool comment_form_known(sp_report_comments *comments, uint32_t form) {
  size_t i;

  for (i = 0; i < comments->form_count; i++)
    if (comments->forms[i] == form)
      return true;
  if (comments->form_count == SP_REPORT_COMMENT_FORMS_MAX)
    return false;
  comments->forms[comments->form_count++] = form;
  return true;
}

/* Add a comment. It replaces an older one of the same process and form or, if
 * its numbers are not added up, of the same text. */
static spanprof_status comment_put(sp_report_comments *comments,
                                   const sp_report_comment *item) {
  const uint64_t hash = sp_hash_mix(sp_hash_mix(item->process, SP_HASH_SEED),
                                    item->process ? item->form : item->text);
  spanprof_status st;
  uint32_t at, i;

  for (i = sp_index_first(&comments->index, hash, &at); i != SP_INDEX_NONE;
       i = sp_index_next(&comments->index, hash, &at)) {
    sp_report_comment *known = &comments->items[i];

    if (known->process != item->process ||
        (item->process ? known->form != item->form : known->text != item->text))
      continue;
    if (known->time_ns <= item->time_ns)
      *known = *item;
    return SPANPROF_OK;
  }
  comments->left_out += comments->count >= SP_REPORT_COMMENTS_MAX;
  if (comments->count >= SP_REPORT_COMMENTS_MAX)
    return SPANPROF_OK;
  st = sp_mem_reserve(comments->names.mem, (void **)&comments->items,
                      &comments->capacity, comments->count + 1, sizeof *item);
  if (!st)
    st = sp_index_reserve(&comments->index, comments->names.mem);
  if (st)
    return st;
  sp_index_add(&comments->index, hash, (uint32_t)comments->count);
  comments->items[comments->count++] = *item;
  return SPANPROF_OK;
}

static spanprof_status comment_add(sp_report_comments *comments,
                                   const char *text, uint64_t process,
                                   uint64_t time_ns) {
  sp_report_comment item = {.time_ns = time_ns};
  char form[COMMENT_BYTES_MAX];
  size_t bytes = strlen(text);
  spanprof_status st;

  st = sp_name_table_intern(&comments->names, text,
                            (size_t)sp_min_u64(bytes, COMMENT_BYTES_MAX),
                            &item.text);
  if (!st && process && bytes < COMMENT_BYTES_MAX && comment_counts(text)) {
    bytes = comment_form(text, form);
    st = sp_name_table_intern(&comments->names, form, bytes, &item.form);
    item.process = process;
    if (!st && !comment_form_known(comments, item.form))
      item.process = item.form = 0;
  }
  return st ? st : comment_put(comments, &item);
}

spanprof_status sp_report_comments_add(sp_report_comments *comments,
                                       const sp_pprof *profile,
                                       const sp_profile_origin *origin) {
  const char *application = origin->application ? origin->application : "";
  uint64_t process = 0;
  spanprof_status st = SPANPROF_OK;
  const char *key;
  size_t i, key_bytes;

  for (i = 0; i < profile->comment_count && origin->process; i++)
    if (!strncmp(profile->comments[i], "spanprof ", strlen("spanprof ")))
      process = sp_hash_mix(sp_hash_bytes(application, strlen(application)),
                            origin->process);
  for (i = 0; i < profile->comment_count && !st; i++)
    if (!sp_profile_label_at(profile, i, &key, &key_bytes))
      st = comment_add(comments, profile->comments[i], process,
                       origin->start_ns);
  return st ? sp_fail(st, "too many different comments") : SPANPROF_OK;
}

/* Add the n-th number of the text to sums[n], for all numbers. */
static void comment_sum(const char *text, size_t bytes,
                        uint64_t sums[COMMENT_NUMBERS_MAX]) {
  const char *end = text + bytes;
  size_t number = 0;

  while (text < end && number < COMMENT_NUMBERS_MAX) {
    uint64_t value;

    if (sp_number_read(&text, end, &value) == SPANPROF_ERR_FORMAT)
      text++;
    else
      sums[number++] += value;
  }
}

static void comment_write_form(const sp_report_comments *comments,
                               uint32_t form, char *out, size_t size) {
  uint64_t sums[COMMENT_NUMBERS_MAX] = {0};
  const char *text;
  size_t i, bytes, number = 0, used = 0;

  for (i = 0; i < comments->count; i++)
    if (comments->items[i].process && comments->items[i].form == form) {
      text =
          sp_name_table_get(&comments->names, comments->items[i].text, &bytes);
      comment_sum(text, bytes, sums);
    }
  text = sp_name_table_get(&comments->names, form, &bytes);
  for (i = 0; i < bytes && used + 1 < size; i++)
    if (text[i] == '#' && number < COMMENT_NUMBERS_MAX)
      used +=
          (size_t)snprintf(out + used, size - used, "%" PRIu64, sums[number++]);
    else
      out[used++] = text[i];
  out[sp_min_u64(used, size - 1)] = '\0';
}

bool sp_report_comments_next(const sp_report_comments *comments, size_t *at,
                             char *text, size_t size) {
  const char *kept;
  size_t bytes, i;

  while (*at < comments->count) {
    const sp_report_comment *item = &comments->items[(*at)++];

    if (item->process)
      continue;
    kept = sp_name_table_get(&comments->names, item->text, &bytes);
    snprintf(text, size, "%.*s", (int)bytes, kept);
    return true;
  }
  i = *at - comments->count;
  if (i == comments->form_count)
    return false;
  ++*at;
  comment_write_form(comments, comments->forms[i], text, size);
  return true;
}
