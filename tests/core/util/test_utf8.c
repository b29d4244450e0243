#include "util/text/utf8.h"

#include "check.h"
#include "util/system/log.h"
#include "util/system/status.h"

static const struct {
  const char *text, *clean, *printable;
} rows[] = {
    {"", "", ""},
    {"plain \xc3\xa9 \xd1\x8f \xf0\x9f\x98\x80",
     "plain \xc3\xa9 \xd1\x8f \xf0\x9f\x98\x80",
     "plain \xc3\xa9 \xd1\x8f \xf0\x9f\x98\x80"},
    {"\x1b[2Jx\ny", "?[2Jx?y", "?[2Jx?y"},
    {"a\xff\xc3", "a??", "a??"},
    /* One-byte CSI, one-byte OSC, DEL, NEL. */
    {"\xc2\x9b"
     "31m",
     "\xc2\x9b"
     "31m",
     "??31m"},
    {"\xc2\x9d"
     "0;t",
     "\xc2\x9d"
     "0;t",
     "??0;t"},
    {"\x7f", "\x7f", "?"},
    {"\xc2\x85", "\xc2\x85", "??"},
    {"\xc2\xa0", "\xc2\xa0", "\xc2\xa0"},
    /* Right-to-left marks and overrides. */
    {"gpj\xe2\x80\xae.exe", "gpj\xe2\x80\xae.exe", "gpj???.exe"},
    {"\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8f\xd8\x9c",
     "\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8f\xd8\x9c", "???????????"},
    {"\xe2\x80\xa8", "\xe2\x80\xa8", "???"},
    {"\xe2\x80\xaf\xe2\x81\xa5", "\xe2\x80\xaf\xe2\x81\xa5",
     "\xe2\x80\xaf\xe2\x81\xa5"},
};

static void terminal_controls_are_not_printable(void) {
  char out[64];
  bool changed;
  size_t i, size;

  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    size = strlen(rows[i].text);
    out[sp_utf8_clean(rows[i].text, size, out, sizeof out - 1, &changed)] =
        '\0';
    CHECK_TEXT(out, rows[i].clean);
    CHECK_EQUAL(changed, strcmp(rows[i].text, rows[i].clean) != 0);
    out[sp_utf8_printable(rows[i].text, size, out, sizeof out - 1)] = '\0';
    CHECK_TEXT(out, rows[i].printable);
  }
}

static void every_truncation_is_valid(void) {
  const char *text = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  size_t length = strlen(text), capacity;
  char out[16];

  for (capacity = 0; capacity <= length; capacity++) {
    size_t used = sp_utf8_printable(text, length, out, capacity);

    CHECK(used <= capacity);
    CHECK(sp_utf8_valid(out, used));
  }
}

static char line[2048];

static void line_keep(void *data, spanprof_log_level level,
                      const char *message) {
  (void)data;
  (void)level;
  snprintf(line, sizeof line, "%s", message);
}

/* Log lines and error messages contain texts with any bytes. */
static void log_lines_and_error_messages_are_printable(void) {
  sp_log log;
  size_t i;

  sp_log_init(&log, line_keep, NULL, SPANPROF_LOG_INFO, sp_clock_system());
  for (i = 0; i < SP_COUNT_OF(rows); i++) {
    sp_log_line(&log, SPANPROF_LOG_INFO, "%s", rows[i].text);
    CHECK_TEXT(line, rows[i].printable);
    sp_fail(SPANPROF_ERR_IO, "%s", rows[i].text);
    CHECK_TEXT(spanprof_last_error(), rows[i].printable);
  }
  sp_log_warn(&log, SP_LOG_SPOOL, "%s",
              "\xc2\x9b"
              "31m");
  CHECK_TEXT(line, "??31m");
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"terminal_controls_are_not_printable",
       terminal_controls_are_not_printable},
      {"every_truncation_is_valid", every_truncation_is_valid},
      {"log_lines_and_error_messages_are_printable",
       log_lines_and_error_messages_are_printable},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
