/* Tests of spans that are started with only a name, and of spans for the
 * duration of a block. */
#include "check.h"

#include "label_reset.h"
#include "span/span.h"
#include "util/system/counters.h"

static char name_buffer[2048];

static const char *name_of(spanprof_span span) {
  sp_span_view view;

  CHECK(sp_span_describe(span, name_buffer, sizeof name_buffer, &view));
  name_buffer[view.name_bytes] = '\0';
  return name_buffer;
}

static void a_name_is_enough_for_a_span(void) {
  spanprof_span span;
  sp_span_view view;

  CHECK_EQUAL(spanprof_span_start_named("GET /cart", &span), SPANPROF_OK);
  CHECK(sp_span_describe(span, name_buffer, sizeof name_buffer, &view));
  CHECK_EQUAL(strlen(view.profile_id), 16); /* the span is sampled */
  CHECK_TEXT(name_of(span), "GET /cart");
  CHECK_EQUAL(spanprof_span_active(), 0);
  spanprof_span_end(span);
  CHECK_EQUAL(spanprof_span_start_named(NULL, &span), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(span, 0);
}

static spanprof_span work_in_a_scope(int leave) {
  SPANPROF_SPAN_SCOPE("outer");
  spanprof_span outer = spanprof_span_active();

  CHECK_TEXT(name_of(outer), "outer");
  CHECK_EQUAL(spanprof_span_carried(outer), outer);
  {
    SPANPROF_SPAN_SCOPE("inner");
    CHECK_TEXT(name_of(spanprof_span_active()), "inner");
    /* The new span's parent is the span that was active. */
    CHECK_EQUAL(spanprof_span_carried(spanprof_span_active()), outer);
    if (leave)
      return outer;
  }
  CHECK_EQUAL(spanprof_span_active(), outer);
  return outer;
}

static void a_scope_ends_with_its_block(void) {
  const uint64_t unbalanced = sp_counted(&sp_counts.spans_unbalanced);
  const uint64_t live = sp_counted(&sp_counts.spans_live);
  int leave;

  for (leave = 0; leave < 2; leave++) {
    CHECK(work_in_a_scope(leave) != 0);
    CHECK_EQUAL(spanprof_span_active(), 0);
    CHECK_EQUAL(sp_counted(&sp_counts.spans_live), live);
  }
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), unbalanced);
}

static void without_a_span_nothing_changes(void) {
  const uint64_t unbalanced = sp_counted(&sp_counts.spans_unbalanced);
  spanprof_span_token token;
  spanprof_span span;

  CHECK_EQUAL(spanprof_span_start_named("outer", &span), SPANPROF_OK);
  CHECK_EQUAL(spanprof_span_enter(span, &token), SPANPROF_OK);
  {
    SPANPROF_SPAN_SCOPE(NULL);
    CHECK_EQUAL(spanprof_span_active(), span);
    CHECK(strstr(spanprof_last_error(), "name"));
  }
  CHECK_EQUAL(spanprof_span_active(), span);
  spanprof_span_leave(token);
  spanprof_span_end(span);
  CHECK_EQUAL(sp_counted(&sp_counts.spans_unbalanced), unbalanced);
}

static void a_label_of_strings_is_the_same_label(void) {
  spanprof_label_token counted, strings;
  spanprof_labels set;

  CHECK_EQUAL(spanprof_label_push_bytes("phase", 5, "read", 4, &counted),
              SPANPROF_OK);
  set = spanprof_labels_get();
  spanprof_label_pop(counted);
  CHECK_EQUAL(spanprof_label_push("phase", "read", &strings), SPANPROF_OK);
  CHECK_EQUAL(spanprof_labels_get(), set);
  spanprof_label_pop(strings);
  CHECK_EQUAL(spanprof_labels_get(), 0);
  CHECK_EQUAL(spanprof_label_push("phase", NULL, &strings),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(spanprof_label_push(NULL, "read", &strings),
              SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(strings, 0);
  CHECK_EQUAL(spanprof_labels_get(), 0);
}

static const check_test tests[] = {
    {"a_name_is_enough_for_a_span", a_name_is_enough_for_a_span},
    {"a_scope_ends_with_its_block", a_scope_ends_with_its_block},
    {"without_a_span_nothing_changes", without_a_span_nothing_changes},
    {"a_label_of_strings_is_the_same_label",
     a_label_of_strings_is_the_same_label},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
