#include "collect/samples/merge.h"

#include "check.h"

/* Stacks are written as text, innermost first. "a E F b" are native frames; E
 * is a frame of the eval loop, and F a C function of the language. "x! y. z."
 * are language frames; a dot marks the outermost frame of a run, and ! a leaf
 * frame. */
typedef struct merge_case {
  const char *native;
  const char *walked;
  bool whole;
  const char *merged;
  bool walk_cut;
} merge_case;

static const merge_case cases[] = {
    {"a b c", "", true, "a b c"},
    {"E m", "x y.", true, "x y m"},
    {"z E m", "x y.", true, "z x y m"},
    {"z E c E m", "x. y w.", true, "z x c y w m"},
    /* The innermost call of the eval loop has not pushed its language frame
     * yet. */
    {"E c E m", "y w.", true, "c y w m"},
    /* There are more runs than native frames of the eval loop: the surplus runs
     * replace the innermost of these frames. */
    {"E m", "x. y.", true, "x y m"},
    /* The native stack was cut, so runs and native frames are paired from the
     * innermost ones, and the remaining runs are appended. */
    {"z E c", "x. y w.", false, "z x c y w"},
    {"z", "x. y.", false, "z x y"},
    /* The walk was cut, so the last run has no frame that ends it. */
    {"E m", "x y", true, "x y m"},
    {"", "x y.", false, "x y"},
    {"E", "", true, ""},
    {"E c E m", "x.", true, "x c m", .walk_cut = true},
    /* A C function of the language keeps its place. */
    {"z F E F a E m", "x. y w.", true, "z F x F a y w m"},
    /* Native frames inside of a leaf frame are omitted. */
    {"z E c E m", "x! y. w.", true, "x y c w m"},
    {"z", "x! y.", false, "x y"},
};

static size_t native_read(const char *text, sp_native_frame *out,
                          bool *evaluates, uint64_t *functions) {
  size_t count = 0;

  for (; *text; text++) {
    if (*text == ' ')
      continue;
    out[count] = (sp_native_frame){.module = 1, .address = (uint64_t)*text};
    functions[count] = *text == 'F' ? 'F' : 0;
    evaluates[count++] = *text == 'E';
  }
  return count;
}

static size_t walked_read(const char *text, spanprof_frame *out) {
  size_t count = 0;

  for (; *text; text++) {
    if (*text == '.')
      out[count - 1].flags |= SPANPROF_FRAME_ENTRY;
    else if (*text == '!')
      out[count - 1].flags |= SPANPROF_FRAME_LEAF;
    else if (*text != ' ')
      out[count++] = (spanprof_frame){.code = (uint64_t)*text};
  }
  return count;
}

static void stacks_are_merged(void) {
  size_t i;

  for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    sp_native_frame native[16];
    spanprof_frame walked[16];
    bool evaluates[16];
    uint64_t functions[16];
    sp_frame merged[32];
    char text[80] = "";
    sp_merge_input input = {.native = native,
                            .evaluates = evaluates,
                            .functions = functions,
                            .native_whole = cases[i].whole,
                            .walk_cut = cases[i].walk_cut,
                            .walked = walked};
    size_t count, f;

    input.native_count =
        native_read(cases[i].native, native, evaluates, functions);
    memset(walked, 0, sizeof walked);
    input.walked_count = walked_read(cases[i].walked, walked);
    count = sp_merge(&input, merged, 32);
    for (f = 0; f < count; f++) {
      bool language = merged[f].code >= 'w';

      CHECK_EQUAL(merged[f].kind == SP_FRAME_RUNTIME,
                  language && !strchr(cases[i].native, (int)merged[f].code));
      CHECK_EQUAL(merged[f].kind == SP_FRAME_FUNCTION, merged[f].code == 'F');
      sprintf(text + strlen(text), "%s%c", f ? " " : "", (int)merged[f].code);
    }
    CHECK_TEXT(text, cases[i].merged);
  }
}

static void no_more_than_max_frames_are_written(void) {
  sp_native_frame native[3] = {{.address = 1}, {.address = 2}, {.address = 3}};
  bool evaluates[3] = {false, false, false};
  uint64_t functions[3] = {0};
  sp_frame merged[2];
  sp_merge_input input = {.native = native,
                          .native_count = 3,
                          .evaluates = evaluates,
                          .functions = functions,
                          .native_whole = true};

  CHECK_EQUAL(sp_merge(&input, merged, 2), 2);
  CHECK_EQUAL(merged[1].code, 2);
}

static const check_test tests[] = {
    {"stacks_are_merged", stacks_are_merged},
    {"no_more_than_max_frames_are_written",
     no_more_than_max_frames_are_written},
};

int main(int argc, char **argv) {
  return check_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
