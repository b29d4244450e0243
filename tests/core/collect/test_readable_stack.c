#include "collect/samples/readable_stack.h"

#include "check.h"

/* Stacks are written as text, innermost first: "a" is a named native frame of
 * module 1, "1" and "2" are addresses of modules 1 and 2 that have no name, "0"
 * of no module, "M" and "N" what stands for modules 1 and 2, "U" for none, "X"
 * a frame of the language, "!" a note. */
typedef struct readable_case {
  const char *merged;
  const char *readable;
} readable_case;

static const readable_case cases[] = {
    /* What started the interpreter is not shown. */
    {"X X a b", "X X"},
    {"a X b X 1 a", "a X b X"},
    {"X X", "X X"},
    /* A thread that runs nothing of the language keeps its stack. */
    {"a b c", "a b c"},
    {"a 1 2 b", "a M N b"},
    /* Runs of one module are one frame, apart from those beside them. */
    {"1 1 1 a", "M a"},
    {"1 1 2 2 1 a 1", "M N M a M"},
    {"1 X 1 X", "M X M X"},
    {"a 1 1 X 1 1", "a M X"},
    {"0 0 a 0", "U a U"},
    {"0 1 0", "U M U"},
    {"1", "M"},
    {"!", "!"},
};

static unsigned asked;

/* The address is its place in the stack plus a letter in the low byte. */
static bool letter_named(void *data, uint32_t module, uint64_t code) {
  (void)data, (void)module;
  asked++;
  return (char)(code & 0xff) >= 'a';
}

static size_t stack_read(const char *text, sp_frame *out) {
  size_t count = 0, at;

  for (at = 0; text[at]; at++) {
    const char c = text[at];
    const uint64_t code = (uint64_t)at << 8 | (uint64_t)c;

    if (c == ' ')
      continue;
    if (c == 'X')
      out[count++] = (sp_frame){.kind = SP_FRAME_RUNTIME, .code = code};
    else if (c == '!')
      out[count++] =
          (sp_frame){.kind = SP_FRAME_NOTE, .code = SP_NOTE_TRUNCATED};
    else
      out[count++] = (sp_frame){.kind = SP_FRAME_NATIVE,
                                .module = c >= 'a' ? 1 : (uint32_t)(c - '0'),
                                .code = code};
  }
  return count;
}

static char frame_letter(const sp_frame *frame) {
  switch (frame->kind) {
  case SP_FRAME_MODULE:
    CHECK_EQUAL(frame->code, 0);
    return "UMN"[frame->module];
  case SP_FRAME_RUNTIME:
    return 'X';
  case SP_FRAME_NOTE:
    return '!';
  default:
    return (char)(frame->code & 0xff);
  }
}

static void stacks_are_shown_as_the_table_says(void) {
  static sp_readable readable = {.named = letter_named};
  size_t i;

  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    sp_frame frames[16];
    char text[80] = "";
    size_t count = stack_read(cases[i].merged, frames), f;

    count = sp_readable_stack(&readable, frames, count);
    for (f = 0; f < count; f++)
      sprintf(text + strlen(text), "%s%c", f ? " " : "",
              frame_letter(&frames[f]));
    CHECK_TEXT(text, cases[i].readable);
  }
}

static void an_address_is_asked_for_once(void) {
  static sp_readable readable = {.named = letter_named};
  sp_frame frames[4];
  int i;

  asked = 0;
  for (i = 0; i < 3; i++)
    sp_readable_stack(&readable, frames, stack_read("a 1 1 b", frames));
  CHECK_EQUAL(asked, 4);
  /* Nor is what is left out anyway. */
  for (i = 0; i < 3; i++)
    sp_readable_stack(&readable, frames, stack_read("X c d", frames));
  CHECK_EQUAL(asked, 4);
}

/* As many addresses as there is room for, twice over: those that took each
 * other's place are asked for again and answered as before. */
static void addresses_that_share_a_place_are_told_apart(void) {
  static sp_readable readable = {.named = letter_named};
  uint64_t code;

  for (code = 0; code < 4 * SP_READABLE_SLOTS; code++) {
    const bool named = code % 2;
    sp_frame frame = {.kind = SP_FRAME_NATIVE,
                      .module = 1,
                      .code = code << 8 | (named ? 'a' : '1')};

    CHECK_EQUAL(sp_readable_stack(&readable, &frame, 1), 1);
    CHECK_EQUAL(frame.kind, named ? SP_FRAME_NATIVE : SP_FRAME_MODULE);
  }
}

static const check_test tests[] = {
    {"stacks_are_shown_as_the_table_says", stacks_are_shown_as_the_table_says},
    {"an_address_is_asked_for_once", an_address_is_asked_for_once},
    {"addresses_that_share_a_place_are_told_apart",
     addresses_that_share_a_place_are_told_apart},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
