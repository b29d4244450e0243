#include "check.h"
#include "failing_mem.h"
#include "unwind/dwarf/eh_frame.h"
#include "unwind/elf/elf_image.h"
#include "unwind/dwarf/registers.h"

#define CODE_START UINT64_C(0x1000)
#define CODE_LIMIT UINT64_C(0x100000)
#define FRAME_AT   UINT64_C(0x200000) /* virtual address of the section */

/* An .eh_frame section under construction. */
typedef struct section {
  uint8_t bytes[4096];
  size_t size;
  size_t cie;
} section;

static void put(section *to, const void *bytes, size_t size) {
  CHECK(to->size + size <= sizeof to->bytes);
  memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
}

static void put_u32(section *to, uint32_t value) {
  put(to, &value, sizeof value);
}

static void end_record(section *to, size_t record) {
  uint32_t length;

  while ((to->size - record) % 8 != 4)
    put(to, "", 1);
  length = (uint32_t)(to->size - record - 4);
  memcpy(to->bytes + record, &length, sizeof length);
}

/* Append a CIE as GCC writes it: CFA = sp + 8, return address at CFA - 8. */
static void put_cie(section *to, const char *letters) {
  static const uint8_t program[] = {0x0c, SP_REGISTER_SP, 8, 0x80 | 16, 1};
  static const uint8_t factors[] = {1, 0x78, 16};
  const size_t record = to->size;

  to->cie = record;
  put_u32(to, 0);
  put_u32(to, 0);
  put(to, "\1", 1);
  put(to, letters, strlen(letters) + 1);
  put(to, factors, sizeof factors);
  /* Augmentation data of one byte: pointers are relative, 4 bytes, signed. */
  put(to, "\1\x1b", 2);
  put(to, program, sizeof program);
  end_record(to, record);
}

static void put_fde(section *to, uint64_t start, uint32_t length,
                    const void *program, size_t size) {
  const size_t record = to->size;

  put_u32(to, 0);
  put_u32(to, (uint32_t)(to->size - to->cie));
  put_u32(to, (uint32_t)(start - (FRAME_AT + to->size)));
  put_u32(to, length);
  put(to, "", 1);
  put(to, program, size);
  end_record(to, record);
}

static void rows_of(const section *from, sp_unwind_rows *rows) {
  const sp_eh_frame frame = {from->bytes, from->size, FRAME_AT, CODE_START,
                             CODE_LIMIT};

  sp_unwind_rows_init(rows, &sp_mem_default);
  CHECK_EQUAL(sp_eh_frame_rows(&frame, rows), SPANPROF_OK);
}

static const sp_unwind_rule *rule_at(const sp_unwind_rows *rows, uint64_t pc) {
  return sp_unwind_rows_find(rows, pc);
}

static void a_frame_pointer_function_has_one_row_per_change(void) {
  /* push rbp; mov rsp,rbp; …; leave; ret */
  static const uint8_t program[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d,
                                    6,    0x02, 50, 0x0c, 7, 8};
  sp_unwind_rows rows;
  section from = {0};

  put_cie(&from, "zR");
  put_fde(&from, 0x2000, 60, program, sizeof program);
  rows_of(&from, &rows);
  CHECK_EQUAL(rule_at(&rows, 0x1fff)->cfa_kind, SP_CFA_NONE);
  CHECK_EQUAL(rule_at(&rows, 0x2000)->cfa_offset, 8);
  CHECK_EQUAL(rule_at(&rows, 0x2000)->cfa_register, SP_REGISTER_SP);
  CHECK_EQUAL(rule_at(&rows, 0x2000)->ra_offset, -8);
  CHECK_EQUAL(rule_at(&rows, 0x2000)->fp_kind, SP_SLOT_SAME);
  CHECK_EQUAL(rule_at(&rows, 0x2001)->cfa_offset, 16);
  CHECK_EQUAL(rule_at(&rows, 0x2001)->fp_kind, SP_SLOT_CFA);
  CHECK_EQUAL(rule_at(&rows, 0x2001)->fp_offset, -16);
  CHECK_EQUAL(rule_at(&rows, 0x2004)->cfa_register, SP_REGISTER_FP);
  CHECK_EQUAL(rule_at(&rows, 0x2004 + 49)->cfa_register, SP_REGISTER_FP);
  CHECK_EQUAL(rule_at(&rows, 0x2004 + 50)->cfa_register, SP_REGISTER_SP);
  CHECK_EQUAL(rule_at(&rows, 0x2000 + 59)->cfa_kind, SP_CFA_REGISTER);
  CHECK_EQUAL(rule_at(&rows, 0x2000 + 60)->cfa_kind, SP_CFA_NONE);
  CHECK_EQUAL(rows.count, 5);
  sp_unwind_rows_dispose(&rows);
}

static void a_remembered_state_is_restored(void) {
  /* push; remember; …; pop; restore after an early return */
  static const uint8_t program[] = {0x41, 0x0e, 16, 0x86, 2,    0x44,
                                    0x0a, 0x0e, 8,  0xc6, 0x41, 0x0b};
  sp_unwind_rows rows;
  section from = {0};

  put_cie(&from, "zR");
  put_fde(&from, 0x2000, 20, program, sizeof program);
  rows_of(&from, &rows);
  CHECK_EQUAL(rule_at(&rows, 0x2005)->cfa_offset, 8);
  CHECK_EQUAL(rule_at(&rows, 0x2005)->fp_kind, SP_SLOT_SAME);
  CHECK_EQUAL(rule_at(&rows, 0x2006)->cfa_offset, 16);
  CHECK_EQUAL(rule_at(&rows, 0x2006)->fp_kind, SP_SLOT_CFA);
  sp_unwind_rows_dispose(&rows);
}

/* Each case is a program of one or a few instructions, and the resulting
 * rule. */
static void expressions_and_rare_instructions_become_rules(void) {
  static const struct {
    const char *program;
    size_t size;
    sp_unwind_rule rule;
  } cases[] = {
      /* the rule of the linkers for .plt */
      {"\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22",
       13,
       {.cfa_kind = SP_CFA_PLT,
        .cfa_register = 7,
        .cfa_plus = 11,
        .ra_kind = SP_SLOT_CFA,
        .ra_offset = -8}},
      /* *(rsp + 152) + 8, as in OpenSSL */
      {"\x0f\x06\x77\x98\x01\x06\x23\x08",
       8,
       {.cfa_kind = SP_CFA_DEREF,
        .cfa_register = 7,
        .cfa_offset = 152,
        .cfa_plus = 8,
        .ra_kind = SP_SLOT_CFA,
        .ra_offset = -8}},
      /* *(rbp - 8), and rbp saved at rbp + 0: a stack that GCC realigned */
      {"\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00",
       10,
       {.cfa_kind = SP_CFA_DEREF,
        .cfa_register = 6,
        .cfa_offset = -8,
        .fp_kind = SP_SLOT_FP,
        .ra_kind = SP_SLOT_CFA,
        .ra_offset = -8}},
      /* the return address is undefined, so this is the outermost frame */
      {"\x07\x10",
       2,
       {.cfa_kind = SP_CFA_REGISTER,
        .cfa_register = 7,
        .cfa_offset = 8,
        .ra_kind = SP_SLOT_UNDEFINED}},
      /* longjmp(): everything is in registers */
      {"\x0c\x05\x00\x09\x07\x08\x09\x06\x09\x09\x10\x01",
       12,
       {.cfa_kind = SP_CFA_REGISTER,
        .cfa_register = 5,
        .fp_kind = SP_SLOT_REGISTER,
        .fp_offset = 9,
        .ra_kind = SP_SLOT_REGISTER,
        .ra_offset = 1,
        .sp_kind = SP_SLOT_REGISTER,
        .sp_offset = 8}},
      /* sp = CFA + 0 is the default */
      {"\x14\x07\x00",
       3,
       {.cfa_kind = SP_CFA_REGISTER,
        .cfa_register = 7,
        .cfa_offset = 8,
        .ra_kind = SP_SLOT_CFA,
        .ra_offset = -8}},
      /* *(rsp + 8 + r9 * 8) + 8: a rule cannot express it */
      {"\x0f\x0b\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08\x00",
       13,
       {.cfa_kind = SP_CFA_UNSUPPORTED}},
      /* an unknown instruction */
      {"\x3e", 1, {.cfa_kind = SP_CFA_UNSUPPORTED}},
      /* an offset larger than any stack */
      {"\x86\xff\xff\xff\xff\xff\x7f", 7, {.cfa_kind = SP_CFA_UNSUPPORTED}},
      /* a state that was never remembered */
      {"\x0b", 1, {.cfa_kind = SP_CFA_UNSUPPORTED}},
      /* a missing operand */
      {"\x0c\xff\xff\xff\xff\xff\xff\xff", 8, {.cfa_kind = SP_CFA_UNSUPPORTED}},
  };
  size_t i;

  for (i = 0; i < SP_COUNT_OF(cases); i++) {
    sp_unwind_rows rows;
    section from = {0};
    uint8_t program[32];

    /* The appended instruction advances the pc, so that padding after it does
     * not matter. */
    memcpy(program, cases[i].program, cases[i].size);
    memcpy(program + cases[i].size, "\x48", 1);
    put_cie(&from, "zR");
    put_fde(&from, 0x2000, 64, program, cases[i].size + 1);
    rows_of(&from, &rows);
    if (memcmp(rule_at(&rows, 0x2001), &cases[i].rule,
               sizeof(sp_unwind_rule)) != 0) {
      fprintf(stderr, "case %zu: kind %d\n", i,
              rule_at(&rows, 0x2001)->cfa_kind);
      CHECK(!"the rule is another");
    }
    sp_unwind_rows_dispose(&rows);
  }
}

static void a_signal_frame_is_known_by_its_letter(void) {
  sp_unwind_rows rows;
  section from = {0};

  put_cie(&from, "zRS");
  put_fde(&from, 0x2000, 10, "\x48", 1);
  rows_of(&from, &rows);
  CHECK_EQUAL(rule_at(&rows, 0x2009)->cfa_kind, SP_CFA_SIGNAL);
  CHECK_EQUAL(rule_at(&rows, 0x200a)->cfa_kind, SP_CFA_NONE);
  sp_unwind_rows_dispose(&rows);
}

static void unordered_and_overlapping_functions_are_sorted(void) {
  sp_unwind_rows rows;
  section from = {0};
  uint32_t i;

  put_cie(&from, "zR");
  put_fde(&from, 0x3000, 0x100, "\x0e\x20", 2);
  put_fde(&from, 0x2000, 0x1010, "\x0e\x18", 2);
  put_fde(&from, 0x3080, 0x10, "\x0e\x30", 2);
  rows_of(&from, &rows);
  CHECK_EQUAL(rule_at(&rows, 0x2000)->cfa_offset, 24);
  CHECK_EQUAL(rule_at(&rows, 0x2fff)->cfa_offset, 24);
  CHECK_EQUAL(rule_at(&rows, 0x3000)->cfa_offset, 32);
  CHECK_EQUAL(rule_at(&rows, 0x3080)->cfa_offset, 48);
  CHECK_EQUAL(rule_at(&rows, 0x3090)->cfa_kind, SP_CFA_NONE);
  for (i = 1; i < rows.count; i++)
    CHECK(sp_unwind_rows_pc(&rows, i) > sp_unwind_rows_pc(&rows, i - 1));
  sp_unwind_rows_dispose(&rows);
}

static void functions_outside_the_code_are_skipped(void) {
  sp_unwind_rows rows;
  section from = {0};

  put_cie(&from, "zR");
  put_fde(&from, 0, 0x100, "\x0e\x20", 2);
  put_fde(&from, CODE_LIMIT - 8, 0x100, "\x0e\x20", 2);
  rows_of(&from, &rows);
  CHECK_EQUAL(rows.count, 0);
  CHECK_EQUAL(rule_at(&rows, 0x50)->cfa_kind, SP_CFA_NONE);
  sp_unwind_rows_dispose(&rows);
}

/* The .eh_frame of this program: complete, truncated and damaged. */
static void a_real_section_survives_damage(void) {
  sp_elf_unwind unwind;
  sp_elf_bytes bytes;
  sp_elf_image image;
  uint32_t seed = 1, whole;
  sp_unwind_rows rows;
  sp_eh_frame frame;
  uint8_t *copy;
  int i;

  CHECK_EQUAL(sp_elf_image_open(&image, "/proc/self/exe", &sp_mem_default),
              SPANPROF_OK);
  CHECK(sp_elf_image_unwind(&image, &unwind));
  CHECK_EQUAL(sp_elf_image_load(&image, unwind.offset, unwind.size, &bytes),
              SPANPROF_OK);
  frame = (sp_eh_frame){bytes.data, bytes.size, unwind.vaddr, 0, UINT32_MAX};
  sp_unwind_rows_init(&rows, &sp_mem_default);
  CHECK_EQUAL(sp_eh_frame_rows(&frame, &rows), SPANPROF_OK);
  whole = rows.count;
  CHECK(whole > 100);
  sp_unwind_rows_dispose(&rows);
  for (i = 0; i < 300; i++) {
    const size_t size = i % 2 ? bytes.size : bytes.size * (size_t)i / 300 + 1;
    int k;

    copy = malloc(size);
    CHECK(copy != NULL);
    memcpy(copy, bytes.data, size);
    for (k = 0; k < 8; k++) {
      seed = seed * 1664525u + 1013904223u;
      copy[(seed >> 4) % size] = (uint8_t)(seed >> 24);
    }
    frame.bytes = copy;
    frame.size = size;
    CHECK_EQUAL(sp_eh_frame_rows(&frame, &rows), SPANPROF_OK);
    CHECK(rows.count <= 2 * whole);
    sp_unwind_rows_dispose(&rows);
    free(copy);
  }
  sp_elf_bytes_dispose(&bytes);
  sp_elf_image_dispose(&image);
}

static void rows_scenario(const sp_mem *mem) {
  static const uint8_t program[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6};
  section from = {0};
  sp_unwind_rows rows;
  sp_eh_frame frame;
  uint64_t i;

  put_cie(&from, "zR");
  for (i = 0; i < 40; i++)
    put_fde(&from, 0x2000 + 64 * (40 - i), 60, program, sizeof program);
  frame =
      (sp_eh_frame){from.bytes, from.size, FRAME_AT, CODE_START, CODE_LIMIT};
  sp_unwind_rows_init(&rows, mem);
  if (sp_eh_frame_rows(&frame, &rows) == SPANPROF_OK)
    CHECK_EQUAL(rows.count, 40 * 4);
  sp_unwind_rows_dispose(&rows);
}

static void rows_survive_failed_allocations(void) {
  failing_mem_sweep(rows_scenario);
}

int main(int argc, char **argv) {
  static const check_test tests[] = {
      {"a_frame_pointer_function_has_one_row_per_change",
       a_frame_pointer_function_has_one_row_per_change},
      {"a_remembered_state_is_restored", a_remembered_state_is_restored},
      {"expressions_and_rare_instructions_become_rules",
       expressions_and_rare_instructions_become_rules},
      {"a_signal_frame_is_known_by_its_letter",
       a_signal_frame_is_known_by_its_letter},
      {"unordered_and_overlapping_functions_are_sorted",
       unordered_and_overlapping_functions_are_sorted},
      {"functions_outside_the_code_are_skipped",
       functions_outside_the_code_are_skipped},
      {"a_real_section_survives_damage", a_real_section_survives_damage},
      {"rows_survive_failed_allocations", rows_survive_failed_allocations},
  };

  return check_main(argc, argv, tests, SP_COUNT_OF(tests));
}
