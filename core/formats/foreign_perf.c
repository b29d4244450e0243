#include "foreign_perf.h"

#include <ctype.h>
#include <string.h>

#include "profile/tables/module_name.h"
#include "util/text/text_lines.h"
#include "util/text/number.h"

#define PERF_DEPTH_MAX 1024 /* deeper stacks lose their outermost frames */

/* A header line, for example:
 * "ruby 4711/4712 [001] 1234.567890: 10101010 cpu-clock:u: 7f12 f+0x1 (/x)" */
typedef struct perf_head {
  sp_text_line command;
  sp_text_line event;
  sp_text_line after_event;
  int64_t period; /* 1 if the line has none */
  bool has_period;
  bool has_time;
} perf_head;

typedef struct perf_reading {
  sp_foreign *foreign;
  perf_head sample; /* header of the current sample; there is none if `command`
                     * is empty */
  sp_text_line frames[PERF_DEPTH_MAX];
  size_t depth;
} perf_reading;

static bool perf_is_digits(const char *at, size_t size) {
  size_t i;

  for (i = 0; i < size && at[i] >= '0' && at[i] <= '9'; i++)
    ;
  return size > 0 && i == size;
}

static void perf_skip_blanks(sp_text_line *text) {
  while (text->size && sp_text_is_blank(*text->at))
    text->at++, text->size--;
}

/* Get the next word of a line. Its size is 0 at the end of the line. */
static sp_text_line perf_word(sp_text_line *line) {
  sp_text_line word;

  perf_skip_blanks(line);
  word.at = line->at;
  while (line->size && !sp_text_is_blank(*line->at))
    line->at++, line->size--;
  word.size = (size_t)(line->at - word.at);
  return word;
}

/* Returns whether a word is a process or thread: "4711" or "4711/4712". */
static bool perf_is_thread(sp_text_line word) {
  const char *slash = memchr(word.at, '/', word.size);
  const size_t first = slash ? (size_t)(slash - word.at) : word.size;

  return perf_is_digits(word.at, first) &&
         (!slash || perf_is_digits(slash + 1, word.size - first - 1));
}

/* Returns whether a word is a time: "1234.567890:". */
static bool perf_is_time(sp_text_line word) {
  const char *point = memchr(word.at, '.', word.size);

  return point && word.size > 1 && word.at[word.size - 1] == ':' &&
         perf_is_digits(word.at, (size_t)(point - word.at)) &&
         perf_is_digits(point + 1, (size_t)(word.at + word.size - point) - 2);
}

/* Returns whether a word is a processor: "[002]". */
static bool perf_is_processor(sp_text_line word) {
  return word.size > 2 && *word.at == '[' && word.at[word.size - 1] == ']' &&
         perf_is_digits(word.at + 1, word.size - 2);
}

/* Returns whether a word is flags, "d..2.": four to six letters, digits and
 * dots. */
static bool perf_is_flags(sp_text_line word) {
  size_t i;

  for (i = 0; i < word.size; i++)
    if (!isalnum((unsigned char)word.at[i]) && !strchr("._", word.at[i]))
      return false;
  return word.size >= 4 && word.size <= 6 && !isdigit((unsigned char)*word.at);
}

/* Parse the text after the thread. Processor, flags, time and period are
 * optional. Returns false if no event follows. */
static bool perf_parse_event(sp_text_line line, perf_head *out) {
  sp_text_line word = perf_word(&line);
  const char *digits;
  uint64_t period = 1;

  if (perf_is_processor(word))
    word = perf_word(&line);
  if (perf_is_flags(word))
    word = perf_word(&line);
  out->has_time = perf_is_time(word);
  if (out->has_time)
    word = perf_word(&line);
  out->has_period = perf_is_digits(word.at, word.size);
  if (out->has_period) {
    digits = word.at;
    sp_number_read(&digits, word.at + word.size, &period);
    word = perf_word(&line);
  }
  if (word.size < 2 || word.at[word.size - 1] != ':' ||
      isdigit((unsigned char)*word.at))
    return false;
  out->period = period > INT64_MAX ? INT64_MAX : (int64_t)period;
  out->event = (sp_text_line){word.at, word.size - 1};
  perf_skip_blanks(&line);
  out->after_event = line;
  return true;
}

/* Parse a header line. The command may contain blanks and numbers: it ends
 * where a thread's number and an event follow. */
static bool perf_parse_head(sp_text_line line, perf_head *out) {
  const bool indented = line.size && sp_text_is_blank(*line.at);
  sp_text_line word;
  const char *command_end;

  perf_skip_blanks(&line);
  *out = (perf_head){.command = line};
  for (word = perf_word(&line); word.size;) {
    command_end = word.at + word.size;
    word = perf_word(&line);
    if (word.size && perf_is_thread(word) && perf_parse_event(line, out)) {
      out->command.size = (size_t)(command_end - out->command.at);
      /* An indented line without a time is a frame, although it looks like a
       * header. */
      return !indented || out->has_time;
    }
  }
  return false;
}

/* Parse a frame such as "7f1a main+0x12 (/bin/x)". The name between the address
 * and the file may contain blanks. *out gets the line without the address.
 * Returns false if the line is not a frame. */
static bool perf_parse_frame(sp_text_line line, sp_text_line *out) {
  const sp_text_line address = perf_word(&line);
  bool digit = false;
  size_t i;

  for (i = 0; i < address.size; i++) {
    const char c = address.at[i];

    digit |= c >= '0' && c <= '9';
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
      return false;
  }
  perf_skip_blanks(&line);
  *out = line;
  return address.size > 1 && digit && line.size > 0;
}

/* Returns whether the period of a sample is a time: the events cpu-clock and
 * task-clock. */
static bool perf_is_clock(const perf_head *sample) {
  const sp_view event = sp_view_of(sample->event.at, sample->event.size);

  return sample->has_period && (sp_view_starts(event, "cpu-clock") ||
                                sp_view_starts(event, "task-clock"));
}

bool sp_foreign_perf_is(sp_view view) {
  const char *text = view.bytes, *end = text + view.size;
  sp_text_line line, frame;
  perf_head head;
  bool found = false;

  while (sp_text_next_line(&text, end, &line)) {
    sp_text_line blanks = line;

    perf_skip_blanks(&blanks);
    if (!blanks.size || line.at[0] == '#')
      continue;
    if (found)
      return sp_text_is_blank(*line.at) && perf_parse_frame(line, &frame);
    if (!perf_parse_head(line, &head))
      return false;
    if (head.has_time || perf_parse_frame(head.after_event, &frame))
      return true;
    found = true;
  }
  return false;
}

/* Add a call such as "main+0x12 (/bin/x)" or "[unknown] (/usr/lib/libz.so)" to
 * the stack *node. */
static spanprof_status perf_call(perf_reading *reading, uint32_t *node,
                                 sp_text_line frame) {
  const char *open = memrchr(frame.at, '(', frame.size), *offset, *slash;
  const char *end = frame.at + frame.size;
  char module[SP_MODULE_NAME_BYTES];
  sp_view name, file = sp_view_of("", 0);
  uint32_t function;
  spanprof_status st;

  if (open && open > frame.at && sp_text_is_blank(open[-1])) {
    frame.size = (size_t)(open - 1 - frame.at);
    open++;
    file = sp_view_of(open, (size_t)(end - open) - (end[-1] == ')'));
    slash = memrchr(open, '/', file.size);
    if (slash)
      file = sp_view_of(slash + 1, (size_t)(open + file.size - slash) - 1);
  }
  offset = memrchr(frame.at, '+', frame.size);
  if (offset && (size_t)(frame.at + frame.size - offset) > 3 &&
      memcmp(offset, "+0x", 3) == 0)
    frame.size = (size_t)(offset - frame.at);
  name = sp_view_of(frame.at, frame.size);
  if (sp_view_is(name, "[unknown]"))
    name = sp_view_of(module, sp_module_name(file.bytes, file.size, module));
  if (sp_view_is(file, "[unknown]") || sp_view_is(file, "inlined"))
    file.size = 0;
  st = sp_foreign_function(reading->foreign, name, file, 0, &function);
  return st ? st : sp_foreign_call(reading->foreign, node, function);
}

/* Add the current sample, which is complete. */
static spanprof_status perf_put(perf_reading *reading) {
  const perf_head *sample = &reading->sample;
  sp_foreign *foreign = reading->foreign;
  uint32_t node = 0, function, type;
  spanprof_status st;

  if (!sample->command.size)
    return SPANPROF_OK;
  st = sp_foreign_function(foreign,
                           sp_view_of(sample->command.at, sample->command.size),
                           sp_view_of("", 0), 0, &function);
  if (!st)
    st = sp_foreign_call(foreign, &node, function);
  while (!st && reading->depth > 0)
    st = perf_call(reading, &node, reading->frames[--reading->depth]);
  if (!st)
    st = sp_foreign_type(
        foreign, sp_view_of(sample->event.at, sample->event.size),
        perf_is_clock(sample) ? "nanoseconds" : "count", &type);
  if (!st)
    st = sp_foreign_add(foreign, node, type, 0, (double)sample->period, 1);
  reading->sample.command.size = reading->depth = 0;
  return st;
}

static void perf_begin(perf_reading *reading, const perf_head *head) {
  sp_text_line frame;

  reading->sample = *head;
  if (perf_parse_frame(head->after_event, &frame))
    reading->frames[reading->depth++] = frame;
}

static spanprof_status perf_line(perf_reading *reading, sp_text_line line) {
  sp_text_line blanks = line, frame;
  perf_head head;
  spanprof_status st;

  perf_skip_blanks(&blanks);
  if (!blanks.size)
    return perf_put(reading);
  if (perf_parse_head(line, &head)) {
    st = perf_put(reading);
    perf_begin(reading, &head);
    return st;
  }
  if (reading->sample.command.size && reading->depth < PERF_DEPTH_MAX &&
      perf_parse_frame(line, &frame))
    reading->frames[reading->depth++] = frame;
  return SPANPROF_OK;
}

spanprof_status sp_foreign_perf_read(sp_foreign *foreign, sp_view text) {
  perf_reading *reading = sp_mem_zero(foreign->mem, sizeof *reading);
  const char *at = text.bytes, *end = at + text.size;
  spanprof_status st = SPANPROF_OK;
  sp_text_line line;

  if (!reading)
    return SPANPROF_ERR_NOMEM;
  reading->foreign = foreign;
  while (!st && sp_text_next_line(&at, end, &line))
    if (!line.size || line.at[0] != '#')
      st = perf_line(reading, line);
  if (!st)
    st = perf_put(reading);
  sp_mem_free(foreign->mem, reading);
  return st;
}
