#include "check.h"
#include "failing_mem.h"
#include "settings/label_list.h"

static sp_label_list list;
static sp_buffer notes;

static void list_start(void) {
  sp_label_list_init(&list, &sp_mem_default);
  sp_buffer_init(&notes, &sp_mem_default);
}

static void list_end(void) {
  sp_label_list_dispose(&list);
  sp_buffer_dispose(&notes);
}

static spanprof_status list_parse(const char *text) {
  const sp_option_value given = {
      .option = "labels", .variable = "PYROSCOPE_LABELS", .text = text};

  return sp_label_list_parse(&list, &given, &notes);
}

/* "name=value|name=value" */
static const char *list_text(void) {
  static char text[8192];
  size_t i, used = 0;

  text[0] = '\0';
  for (i = 0; i < list.count; i++)
    used +=
        (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s",
                         i ? "|" : "", list.pairs[i].name, list.pairs[i].value);
  return text;
}

static void labels_are_split_and_trimmed(void) {
  static const struct {
    const char *text;
    const char *expected;
  } table[] = {
      {"", ""},
      {"a=b", "a=b"},
      {"region=eu,host=web-1", "region=eu|host=web-1"},
      {" region = eu west ,\thost =web-1 ", "region=eu west|host=web-1"},
      {"a=b=c==", "a=b=c=="},
      {",,a=b,,", "a=b"},
      {"k8s.pod.name=x,_y=z", "k8s_pod_name=x|_y=z"},
      {"team=größe", "team=größe"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    list_start();
    CHECK_EQUAL(list_parse(table[i].text), SPANPROF_OK);
    CHECK_TEXT(list_text(), table[i].expected);
    CHECK_EQUAL(notes.size, 0);
    list_end();
  }
}

static void labels_of_repeated_names_are_the_last_with_a_note(void) {
  list_start();
  CHECK_EQUAL(list_parse("a=1,b=2,a=3"), SPANPROF_OK);
  CHECK_TEXT(list_text(), "a=3|b=2");
  CHECK_TEXT(notes.data, "labels (from PYROSCOPE_LABELS): label \"a\" is given "
                         "twice; the last one is used\n");
  sp_buffer_clear(&notes);
  sp_label_list_next_source(&list);
  CHECK_EQUAL(list_parse("b=4"), SPANPROF_OK);
  CHECK_TEXT(list_text(), "a=3|b=4");
  CHECK_EQUAL(notes.size, 0);
  list_end();
}

static void labels_without_value_are_omitted_with_a_note(void) {
  list_start();
  CHECK_EQUAL(list_parse("a=1,region=,b=2,c=3"), SPANPROF_OK);
  CHECK_TEXT(list_text(), "a=1|b=2|c=3");
  CHECK(strstr(notes.data, "label \"region\" has no value and is omitted"));
  CHECK_EQUAL(list_parse("a= "), SPANPROF_OK);
  CHECK_TEXT(list_text(), "b=2|c=3");
  sp_buffer_clear(&notes);
  CHECK_EQUAL(list_parse("b=5"), SPANPROF_OK);
  CHECK(strstr(notes.data, "given twice"));
  list_end();
}

static void labels_that_are_wrong_are_refused_by_name(void) {
  static const struct {
    const char *text;
    const char *sentence; /* part of the error message */
  } table[] = {
      {"abc", "has \"abc\" where name=value is expected"},
      {"a=1,=2", "has a label without a name"},
      {"my-label=1", "has the label name \"my-label\", which is not"},
      {"1st=1", "has the label name \"1st\", which is not"},
      {".a=1", "has the label name \".a\", which is not"},
      {"gr\xc3\xb6\xc3\x9f"
       "e=1",
       "has the label name \"größe\", which is not"},
      {"__name__=x", "names with __ are reserved for the server"},
      {"service_name=x", "the profiler sets itself (to application_name)"},
      {"profile_id=x", "\"profile_id\", which the profiler sets itself"},
      {"span_name=x", "\"span_name\", which the profiler sets itself"},
      {"a=\xff", "has a value that is not UTF-8 for label \"a\""},
      {"a=x\ny", "has a control character in the value of label \"a\""},
      {"x\ny=1", "has the label name \"x?y\", which is not"},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    list_start();
    CHECK_EQUAL(list_parse(table[i].text), SPANPROF_ERR_ARGUMENT);
    CHECK(strncmp(spanprof_last_error(), "labels (from PYROSCOPE_LABELS) ",
                  31) == 0);
    if (!strstr(spanprof_last_error(), table[i].sentence))
      CHECK_TEXT(spanprof_last_error(), table[i].sentence);
    list_end();
  }
}

static void labels_up_to_the_servers_limits_are_accepted(void) {
  static char text[4096];

  list_start();
  memset(text, 'n', sizeof text);
  memcpy(text + SP_LABEL_NAME_MAX_BYTES, "=v", 3);
  CHECK_EQUAL(list_parse(text), SPANPROF_OK);
  memset(text, 'n', sizeof text);
  memcpy(text + SP_LABEL_NAME_MAX_BYTES + 1, "=v", 3);
  CHECK_EQUAL(list_parse(text), SPANPROF_ERR_ARGUMENT);
  memset(text, 'v', sizeof text);
  memcpy(text, "n=", 2);
  text[2 + SP_LABEL_VALUE_MAX_BYTES] = '\0';
  CHECK_EQUAL(list_parse(text), SPANPROF_OK);
  text[2 + SP_LABEL_VALUE_MAX_BYTES] = 'v';
  text[2 + SP_LABEL_VALUE_MAX_BYTES + 1] = '\0';
  CHECK_EQUAL(list_parse(text), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "has a value of 2049 bytes"));
  list_end();
}

static void labels_beyond_twenty_are_refused(void) {
  char text[512] = "";
  size_t i, used = 0;

  list_start();
  for (i = 0; i < SP_LABEL_LIST_MAX; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "l%zu=v,", i);
  CHECK_EQUAL(list_parse(text), SPANPROF_OK);
  CHECK_EQUAL(list.count, SP_LABEL_LIST_MAX);
  CHECK_EQUAL(list_parse("l3=again"), SPANPROF_OK);
  CHECK_EQUAL(list_parse("one_more=v"), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "exceeds the limit of 20 static labels"));
  CHECK_EQUAL(list_parse("l19=,one_more=v"), SPANPROF_OK);
  list_end();
}

static void labels_lose_their_dots(void) {
  list_start();
  CHECK_EQUAL(list_parse("a.b=1,otel.scope.name=s,process.runtime.name=r"),
              SPANPROF_OK);
  CHECK_TEXT(list_text(), "a_b=1|otel.scope.name=s|process.runtime.name=r");
  CHECK_EQUAL(notes.size, 0);
  sp_label_list_next_source(&list);
  CHECK_EQUAL(list_parse("c.d_e=1,c_d.e=2,c_d_e=3,c.d.e=4"), SPANPROF_OK);
  CHECK_TEXT(list.pairs[3].name, "c_d_e");
  CHECK_TEXT(list.pairs[3].value, "3");
  CHECK(strstr((const char *)notes.data, "with and without dots"));
  CHECK_EQUAL(list_parse("service.name=x"), SPANPROF_ERR_ARGUMENT);
  CHECK(strstr(spanprof_last_error(), "the profiler sets itself"));
  list_end();
}

static void labels_of_a_later_source_take_precedence(void) {
  list_start();
  CHECK_EQUAL(list_parse("x=0,a_b=1"), SPANPROF_OK);
  sp_label_list_next_source(&list);
  CHECK_EQUAL(list_parse("a.b=2,x="), SPANPROF_OK);
  CHECK_TEXT(list_text(), "a_b=2");
  CHECK_EQUAL(list_parse("a_b=3,a.b=4"), SPANPROF_OK);
  CHECK_TEXT(list_text(), "a_b=3");
  list_end();
}

static void labels_keep_dots_on_request(void) {
  list_start();
  list.keep_dots = true;
  CHECK_EQUAL(list_parse("a.b=1,a_b=2"), SPANPROF_OK);
  CHECK_TEXT(list_text(), "a.b=1|a_b=2");
  list_end();
}

static void labels_names_are_cleaned_on_request(void) {
  list_start();
  list.clean = true;
  CHECK_EQUAL(list_parse("pod-name=web,größe=1,1st=x,ok=y"), SPANPROF_OK);
  CHECK_TEXT(list_text(), "pod_name=web|gr____e=1|_st=x|ok=y");
  CHECK_EQUAL(list.cleaned, 3);
  CHECK(strstr((const char *)notes.data,
               "label \"pod-name\" becomes \"pod_name\""));
  CHECK_EQUAL(list_parse("pod.name=a,pod name=b,pod_name=c"), SPANPROF_OK);
  CHECK_TEXT(list.pairs[0].value, "c");
  CHECK_EQUAL(list_parse("=b"), SPANPROF_ERR_ARGUMENT);
  CHECK_EQUAL(list_parse("span-id=b"), SPANPROF_ERR_ARGUMENT);
  list_end();
}

static void labels_names_are_cleaned_byte_by_byte(void) {
  char table[][2][16] = {{"host-name", "host_name"},
                         {"9lives", "_lives"},
                         {"a b", "a_b"},
                         {"\xc3\xa9t\xc3\xa9", "__t__"}};
  char good[] = "k8s.pod.name";
  size_t i;

  for (i = 0; i < SP_COUNT_OF(table); i++) {
    CHECK(sp_label_name_clean(table[i][0]));
    CHECK_TEXT(table[i][0], table[i][1]);
  }
  CHECK(!sp_label_name_clean(good));
}

static void labels_parse_with(const sp_mem *mem) {
  const sp_option_value given = {.option = "labels",
                                 .text = "a=1,b=2,a=3,c=,b=4"};
  spanprof_status st;

  sp_label_list_init(&list, mem);
  sp_buffer_init(&notes, mem);
  st = sp_label_list_parse(&list, &given, &notes);
  CHECK(st == SPANPROF_OK || st == SPANPROF_ERR_NOMEM);
  list_end();
}

static void labels_survive_every_failed_allocation(void) {
  failing_mem_sweep(labels_parse_with);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"names lose their dots", labels_lose_their_dots},
      {"labels of a later source take precedence also with dots",
       labels_of_a_later_source_take_precedence},
      {"names keep their dots on request", labels_keep_dots_on_request},
      {"labels are split and trimmed", labels_are_split_and_trimmed},
      {"the last label of a repeated name is used, with a note",
       labels_of_repeated_names_are_the_last_with_a_note},
      {"an empty value is omitted, with a note",
       labels_without_value_are_omitted_with_a_note},
      {"wrong labels are refused by name",
       labels_that_are_wrong_are_refused_by_name},
      {"labels up to the server's limits are accepted, longer ones refused",
       labels_up_to_the_servers_limits_are_accepted},
      {"more than twenty are refused", labels_beyond_twenty_are_refused},
      {"names are cleaned on request", labels_names_are_cleaned_on_request},
      {"names are cleaned byte by byte", labels_names_are_cleaned_byte_by_byte},
      {"every failed allocation is survived",
       labels_survive_every_failed_allocation},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
