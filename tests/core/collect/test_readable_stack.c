#include "collect/samples/readable_stack.h"

#include "check.h"

/* Stacks are written as text, innermost first. "a" is a named native frame of
 * module 1. "1" and "2" are addresses without a name in modules 1 and 2, "0" in
 * no module. "M" and "N" are the frames of modules 1 and 2, "U" of no module.
 * "3" is an address of the interpreter, "I" the note about it, and "F" a C
 * function of the language. "X" is a
 * language frame, "!" another note. */
typedef struct readable_case {
  const char *merged;
  const char *readable;
} readable_case;

static const readable_case cases[] = {
    /* Frames that started the interpreter are removed. */
    {"X X a b", "X X"},
    {"a X b X 1 a", "a X b X"},
    {"X X", "X X"},
    /* A thread without language frames keeps its stack. */
    {"a b c", "a b c"},
    {"a 1 2 b", "a M N b"},
    /* Adjacent addresses of one module become one frame. */
    {"1 1 1 a", "M a"},
    {"1 1 2 2 1 a 1", "M N M a M"},
    {"1 X 1 X", "M X M X"},
    {"a 1 1 X 1 1", "a M X"},
    {"0 0 a 0", "U a U"},
    {"0 1 0", "U M U"},
    {"1", "M"},
    {"!", "!"},
    /* The interpreter's time belongs to the language frame that called it. */
    {"3 X 3 3 X 3", "X X"},
    {"a 3 X", "a X"},
    {"1 3 1 X", "M X"},
    {"3 a 3 X", "a X"},
    /* C functions of the language stay, except outside of the outermost
     * language frame. */
    {"F 3 X", "F X"},
    {"a 3 F F 3 X 3 F X F", "a F F X F X"},
    /* Without a language frame, the interpreter is one frame. */
    {"3 3", "I"},
    {"a 3 3 1", "a I M"},
    {"3 a 3", "I a I"},
};

static unsigned lookups;

/* An address consists of its index in the text and, in the low byte, its
 * character. Addresses with a letter have a name. */
static sp_readable_kind letter_kind(void *data, uint32_t module,
                                    uint64_t code) {
  (void)data;
  lookups++;
  if (module == 3)
    return SP_READABLE_INTERPRETER;
  return (char)(code & 0xff) >= 'a' ? SP_READABLE_NAMED : SP_READABLE_NAMELESS;
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
    else if (c == 'F')
      out[count++] = (sp_frame){.kind = SP_FRAME_FUNCTION, .code = code};
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
  case SP_FRAME_FUNCTION:
    return 'F';
  case SP_FRAME_NOTE:
    return frame->code == SP_NOTE_INTERPRETER ? 'I' : '!';
  default:
    return (char)(frame->code & 0xff);
  }
}

static void stacks_are_made_readable(void) {
  static sp_readable readable = {.kind = letter_kind};
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

static void an_address_is_looked_up_once(void) {
  static sp_readable readable = {.kind = letter_kind};
  sp_frame frames[4];
  int i;

  lookups = 0;
  for (i = 0; i < 3; i++)
    sp_readable_stack(&readable, frames, stack_read("a 1 1 b", frames));
  CHECK_EQUAL(lookups, 4);
  /* No name is looked up for the addresses of removed frames. */
  for (i = 0; i < 3; i++)
    sp_readable_stack(&readable, frames, stack_read("X c d", frames));
  CHECK_EQUAL(lookups, 4);
}

/* There are twice as many addresses as slots in the cache. Addresses that have
 * replaced each other in a slot are looked up again, with the same result. */
static void addresses_that_share_a_slot_are_distinguished(void) {
  static sp_readable readable = {.kind = letter_kind};
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
    {"stacks_are_made_readable", stacks_are_made_readable},
    {"an_address_is_looked_up_once", an_address_is_looked_up_once},
    {"addresses_that_share_a_slot_are_distinguished",
     addresses_that_share_a_slot_are_distinguished},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
