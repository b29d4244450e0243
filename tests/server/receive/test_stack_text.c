/* The text formats of /ingest. */
#include "failing_mem.h"
#include "pprof_message.h"
#include "server/receive/ingest/stack_text.h"

typedef spanprof_status (*reader)(sp_stack_list *list, sp_view body);

/* Set `out` to the stacks as "main;leaf 3|…", or to "!" and the message if the
 * body is refused. */
static void read_on(const sp_mem *mem, reader read, const void *bytes,
                    size_t size, char *out, size_t capacity) {
  sp_stack_list list;
  pprof_case c;
  size_t i, k, at = 0;

  pprof_case_init(&c, mem);
  sp_stack_list_init(&list, &c.arena, &c.refusal);
  *out = '\0';
  if (read(&list, sp_view_of(bytes, size)))
    snprintf(out, capacity, "!%s", sp_refusal_text(&c.refusal));
  for (i = 0; *out != '!' && i < list.stack_count; i++) {
    for (k = 0; k < list.stacks[i].count && at < capacity; k++) {
      const sp_view name = list.names[list.frames[list.stacks[i].first + k]];

      at += (size_t)snprintf(out + at, capacity - at, "%s%.*s", k ? ";" : "",
                             (int)name.size, name.bytes);
    }
    if (at < capacity)
      at += (size_t)snprintf(out + at, capacity - at, " %lld|",
                             (long long)list.stacks[i].value);
  }
  sp_stack_list_dispose(&list);
  pprof_case_dispose(&c);
}

static void check_read(reader read, const char *bytes, size_t size,
                       const char *expected) {
  char out[300], *copy = malloc(size + 1);

  memcpy(copy, bytes, size);
  read_on(&sp_mem_default, read, copy, size, out, sizeof out);
  free(copy);
  CHECK_TEXT(out, expected);
}

static void folded_lines_are_stacks(void) {
  static const char *const cases[][2] = {
      {"main;leaf 3\nmain;other 2\n", "main;leaf 3|main;other 2|"},
      {"main;leaf 3\nmain;leaf 4", "main;leaf 7|"},
      {"main;leaf\n", ""},
      {"\n\nmain;leaf 3\r\n\n", "main;leaf 3|"},
      {"main x;leaf y z 3", "main x;leaf y z 3|"},
      {"main;;leaf 3", "main;;leaf 3|"},
      {"main; 3", "main 3|"},
      {" 3", " 3|"},
      {"main -3", "main -3|"},
      {"main abc", "!strconv.Atoi: parsing \"abc\": invalid syntax"},
      {"main 9223372036854775808",
       "!strconv.Atoi: parsing \"9223372036854775808\": value out of range"},
      {"", ""},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++)
    check_read(sp_stack_folded, cases[i][0], strlen(cases[i][0]), cases[i][1]);
  check_read(sp_stack_lines, "main;leaf\nmain;leaf\nmain\n", 25,
             "main;leaf 2|main 1|");
}

static const char trie[] = "\0\0\1\5main;\0\2\4leaf\3\0\5other\2\0";
static const char tree[] = "\0\0\1\4main\0\2\4leaf\3\0\5other\2\0";

static void tries_and_trees_are_read(void) {
  check_read(sp_stack_trie, trie, sizeof trie - 1, "main;leaf 3|main;other 2|");
  check_read(sp_stack_tree_read, tree, sizeof tree - 1,
             "main;leaf 3|main;other 2|");
  check_read(sp_stack_trie, "", 0, "");
  check_read(sp_stack_tree_read, "", 0, "!EOF");
}

static void truncated_input_is_refused_or_has_fewer_stacks(void) {
  char out[300];
  size_t size;

  for (size = 1; size < sizeof trie - 1; size++) {
    char *copy = malloc(size);

    memcpy(copy, trie, size);
    read_on(&sp_mem_default, sp_stack_trie, copy, size, out, sizeof out);
    memcpy(copy, tree, size);
    if (size < sizeof tree - 1) {
      read_on(&sp_mem_default, sp_stack_tree_read, copy, size, out, sizeof out);
      CHECK(*out == '!');
    }
    free(copy);
  }
}

/* The keys of a deep trie are large, because the key of each node contains the
 * names of all its parents. */
static void the_size_of_unfolded_tries_is_bounded(void) {
  const size_t depth = 200000;
  char *bytes = malloc(4 * depth), out[300];
  size_t i;

  for (i = 0; i < depth; i++)
    memcpy(bytes + 4 * i, "\1a\1\1", 4);
  read_on(&sp_mem_default, sp_stack_trie, bytes, 4 * depth, out, sizeof out);
  CHECK(*out == '!');
  memset(bytes, 0x7f, 4 * depth);
  read_on(&sp_mem_default, sp_stack_tree_read, bytes, 4 * depth, out,
          sizeof out);
  CHECK(*out == '!');
  free(bytes);
}

static void a_long_line_is_a_deep_stack(void) {
  sp_buffer text;
  char *out = malloc(1 << 20);
  size_t i;

  sp_buffer_init(&text, &sp_mem_default);
  for (i = 0; i < 40000; i++)
    sp_buffer_text(&text, "f;");
  sp_buffer_text(&text, "leaf 7\nmain 1\n");
  read_on(&sp_mem_default, sp_stack_folded, text.data, text.size, out, 1 << 20);
  CHECK(strstr(out, ";leaf 7"));
  CHECK(strstr(out, "main 1"));
  sp_buffer_dispose(&text);
  free(out);
}

static void profiles_have_the_innermost_frame_first(void) {
  const sp_stack_meta meta = {.type = "cpu",
                              .unit = "nanoseconds",
                              .period_type = "cpu",
                              .period_unit = "nanoseconds",
                              .period = 10000000,
                              .scale = 10000000,
                              .time_ns = 5};
  sp_raw_profile raw;
  sp_stack_list list;
  pprof_case c;

  pprof_case_init(&c, &sp_mem_default);
  sp_stack_list_init(&list, &c.arena, &c.refusal);
  CHECK(!sp_stack_folded(&list, sp_view_text("main;leaf 3\nmain 0\n")));
  CHECK(!sp_stack_list_profile(&list, &meta, &raw));
  CHECK_EQUAL(raw.sample_count, 1);
  CHECK_EQUAL(raw.samples[0].values[0], 30000000);
  CHECK_EQUAL(raw.samples[0].locations[0], 2);
  CHECK(sp_view_is(sp_raw_text(&raw, raw.functions[1].name), "leaf"));
  CHECK_EQUAL(raw.samples[0].label_count, 0);
  sp_stack_list_dispose(&list);
  pprof_case_dispose(&c);
}

static void samples_have_the_span_of_their_profile(void) {
  const sp_stack_meta meta = {.type = "samples",
                              .unit = "count",
                              .scale = 1,
                              .span_id = sp_view_text("08d12e6b76c84d11")};
  sp_raw_profile raw;
  sp_stack_list list;
  pprof_case c;
  size_t i;

  pprof_case_init(&c, &sp_mem_default);
  sp_stack_list_init(&list, &c.arena, &c.refusal);
  CHECK(!sp_stack_folded(&list, sp_view_text("main;leaf 3\nmain 1\n")));
  CHECK(!sp_stack_list_profile(&list, &meta, &raw));
  CHECK_EQUAL(raw.sample_count, 2);
  for (i = 0; i < raw.sample_count; i++) {
    const sp_raw_label *label = raw.samples[i].labels;

    CHECK_EQUAL(raw.samples[i].label_count, 1);
    CHECK(sp_view_is(sp_raw_text(&raw, label->key), "profile_id"));
    CHECK(sp_view_is(sp_raw_text(&raw, label->text), "08d12e6b76c84d11"));
  }
  sp_stack_list_dispose(&list);
  pprof_case_dispose(&c);
}

static void sweep(const sp_mem *mem) {
  char out[300];

  read_on(mem, sp_stack_trie, trie, sizeof trie - 1, out, sizeof out);
  read_on(mem, sp_stack_folded, "a;b 1\na 2\n", 10, out, sizeof out);
}

static void failed_allocations_are_handled(void) {
  failing_mem_sweep(sweep);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"folded_lines_are_stacks", folded_lines_are_stacks},
      {"tries_and_trees_are_read", tries_and_trees_are_read},
      {"truncated_input_is_refused_or_has_fewer_stacks",
       truncated_input_is_refused_or_has_fewer_stacks},
      {"the_size_of_unfolded_tries_is_bounded",
       the_size_of_unfolded_tries_is_bounded},
      {"a_long_line_is_a_deep_stack", a_long_line_is_a_deep_stack},
      {"profiles_have_the_innermost_frame_first",
       profiles_have_the_innermost_frame_first},
      {"samples_have_the_span_of_their_profile",
       samples_have_the_span_of_their_profile},
      {"failed_allocations_are_handled", failed_allocations_are_handled},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
