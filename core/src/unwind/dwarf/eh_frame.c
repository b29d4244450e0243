#include "eh_frame.h"

#include <stdlib.h>

#include "cfa_program.h"
#include "dwarf_reader.h"
#include "registers.h"

/* Source of the record formats: LSB Core 5.0, §10.6.1 "The .eh_frame
 * section". */

/* A function and its instructions. */
typedef struct eh_function {
  uint64_t start;
  uint64_t limit;
  uint32_t cie;    /* index in `eh_parser.cies` */
  uint32_t offset; /* offset of the instructions in the section */
  uint32_t size;   /* size of the instructions */
} eh_function;

typedef struct eh_cie {
  uint64_t offset; /* offset of the record */
  sp_cfa_program program;
  bool usable;
  /* 'z' in the augmentation: FDEs have an augmentation size. */
  bool has_augmentation;
  bool signal; /* 'S' */
} eh_cie;

typedef struct eh_parser {
  const sp_mem *mem;
  const sp_eh_frame *frame;
  eh_function *functions;
  size_t function_count;
  size_t function_capacity;
  eh_cie *cies;
  size_t cie_count;
  size_t cie_capacity;
} eh_parser;

/* A record of the section. `body` follows the length and the id. */
typedef struct eh_record {
  sp_dwarf_reader body;
  uint64_t offset; /* offset of the record */
  uint64_t cie;    /* for an FDE: offset of its CIE */
  bool is_cie;
} eh_record;

/* Read the next record and advance `section` past it. Returns false at the end
 * and if the data is broken. */
static bool eh_record_next(const sp_eh_frame *frame, sp_dwarf_reader *section,
                           eh_record *out) {
  uint64_t length, id, id_offset;

  out->offset = (uint64_t)(section->at - frame->bytes);
  length = sp_dwarf_u32(section);
  if (length == 0xffffffff)
    length = sp_dwarf_u64(section);
  if (length < 4 || length > sp_dwarf_remaining(section))
    return false;
  out->body = sp_dwarf_reader_of(section->at, (size_t)length, section->vaddr);
  id_offset = (uint64_t)(section->at - frame->bytes);
  id = sp_dwarf_u32(&out->body);
  out->is_cie = id == 0;
  out->cie = id_offset - id;
  sp_dwarf_skip(section, length);
  return out->is_cie || id <= id_offset;
}

/* Read the augmentation of a CIE, letter by letter. Stops at an unknown letter,
 * which is harmless because the size of the augmentation data is known. Returns
 * false if FDEs of this CIE cannot be read. */
static bool eh_cie_augmentation(eh_cie *cie, const char *letters,
                                sp_dwarf_reader *body) {
  uint64_t size;
  sp_dwarf_reader inside;
  uint8_t encoding;

  cie->program.pointer_encoding = SP_DWARF_PE_ABSPTR;
  if (letters[0] == '\0')
    return true;
  if (letters[0] != 'z')
    return false;
  cie->has_augmentation = true;
  size = sp_dwarf_uleb(body);
  inside = *body;
  sp_dwarf_skip(body, size);
  if (body->failed)
    return false;
  inside.end = body->at;
  for (letters++; *letters != '\0'; letters++)
    switch (*letters) {
    case 'R':
      cie->program.pointer_encoding = sp_dwarf_u8(&inside);
      break;
    case 'L':
      sp_dwarf_u8(&inside);
      break;
    case 'P':
      encoding = sp_dwarf_u8(&inside);
      sp_dwarf_plain(&inside, encoding);
      break;
    case 'S':
      cie->signal = true;
      break;
    case 'B': /* AArch64 DWARF ABI 2023Q3, §4.4: pointers signed with key B */
    case 'G': /* §4.4 as well: memory tagging of the stack */
      break;
    default:
      return !inside.failed;
    }
  return !inside.failed;
}

static bool eh_cie_header(eh_cie *cie, sp_dwarf_reader *body) {
  const uint8_t version = sp_dwarf_u8(body);
  char letters[16];
  size_t i = 0;
  uint8_t letter;

  do {
    letter = sp_dwarf_u8(body);
    letters[i++] = (char)letter;
  } while (letter != 0 && i < sizeof letters);
  if (body->failed || letter != 0 || (version != 1 && version != 3))
    return false;
  cie->program.code_factor = sp_dwarf_uleb(body);
  cie->program.data_factor = sp_dwarf_sleb(body);
  cie->program.return_register =
      version == 1 ? sp_dwarf_u8(body) : sp_dwarf_uleb(body);
  if (!eh_cie_augmentation(cie, letters, body) || body->failed)
    return false;
#if defined(__x86_64__)
  return cie->program.return_register == SP_REGISTER_PC;
#else
  return cie->program.return_register == SP_REGISTER_LR;
#endif
}

static spanprof_status eh_cie_add(eh_parser *parser, eh_record *record) {
  eh_cie cie = {.offset = record->offset};
  sp_dwarf_reader *body = &record->body;
  spanprof_status st;

  cie.usable = eh_cie_header(&cie, body);
  if (cie.usable) {
    const sp_cfa_code code = {body->at, sp_dwarf_remaining(body), body->vaddr};

    sp_cfa_program_begin(&cie.program, &code);
  }
  st = sp_mem_reserve(parser->mem, (void **)&parser->cies,
                      &parser->cie_capacity, parser->cie_count + 1, sizeof cie);
  if (!st)
    parser->cies[parser->cie_count++] = cie;
  return st;
}

/* Find a CIE by binary search: in every linker's output, CIEs precede their
 * FDEs and have ascending offsets. */
static const eh_cie *eh_cie_find(const eh_parser *parser, uint64_t offset) {
  size_t low = 0, high = parser->cie_count;

  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (parser->cies[middle].offset <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && parser->cies[low - 1].offset == offset
             ? &parser->cies[low - 1]
             : NULL;
}

static spanprof_status eh_function_add(eh_parser *parser, eh_record *record) {
  const sp_eh_frame *frame = parser->frame;
  const eh_cie *cie = eh_cie_find(parser, record->cie);
  sp_dwarf_reader *body = &record->body;
  eh_function function;
  spanprof_status st;
  uint64_t length;

  if (!cie || !cie->usable)
    return SPANPROF_OK;
  function.start = sp_dwarf_pointer(body, cie->program.pointer_encoding);
  length = sp_dwarf_plain(body, cie->program.pointer_encoding);
  if (cie->has_augmentation)
    sp_dwarf_skip(body, sp_dwarf_uleb(body));
  if (body->failed || function.start < frame->code_start ||
      function.start >= frame->code_limit || length == 0 ||
      length > frame->code_limit - function.start)
    return SPANPROF_OK;
  function.limit = function.start + length;
  function.cie = (uint32_t)(cie - parser->cies);
  function.offset = (uint32_t)(body->at - frame->bytes);
  function.size = (uint32_t)sp_dwarf_remaining(body);
  st = sp_mem_reserve(parser->mem, (void **)&parser->functions,
                      &parser->function_capacity, parser->function_count + 1,
                      sizeof function);
  if (!st)
    parser->functions[parser->function_count++] = function;
  return st;
}

static int eh_function_order(const void *a, const void *b) {
  const eh_function *left = a, *right = b;

  if (left->start != right->start)
    return left->start < right->start ? -1 : 1;
  return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Sort the functions by address, unless they are sorted, as linkers usually
 * write them. */
static void eh_parser_sort(eh_parser *parser) {
  size_t i;

  for (i = 1; i < parser->function_count; i++)
    if (eh_function_order(&parser->functions[i - 1], &parser->functions[i]) >
        0) {
      qsort(parser->functions, parser->function_count,
            sizeof *parser->functions, eh_function_order);
      return;
    }
}

static spanprof_status eh_function_rows(const eh_parser *parser,
                                        const eh_function *function,
                                        uint64_t limit, sp_unwind_rows *rows) {
  static const sp_unwind_rule signal_rule = {.cfa_kind = SP_CFA_SIGNAL};
  const sp_eh_frame *frame = parser->frame;
  const eh_cie *cie = &parser->cies[function->cie];
  const sp_cfa_code code = {frame->bytes + function->offset, function->size,
                            frame->vaddr + function->offset};

  sp_unwind_rows_begin(rows);
  if (cie->signal)
    return sp_unwind_rows_add(rows, function->start, &signal_rule);
  return sp_cfa_program_run(&cie->program, &code, function->start, limit, rows);
}

static spanprof_status eh_parser_rows(const eh_parser *parser,
                                      sp_unwind_rows *rows) {
  static const sp_unwind_rule no_rule = {.cfa_kind = SP_CFA_NONE};
  spanprof_status st = SPANPROF_OK;
  size_t i;

  for (i = 0; i < parser->function_count && !st; i++) {
    const eh_function *function = &parser->functions[i];
    uint64_t limit = function->limit;

    if (i + 1 < parser->function_count)
      limit = sp_min_u64(limit, function[1].start);
    if (limit <= function->start)
      continue; /* the next FDE is for the same code and replaces this one */
    st = eh_function_rows(parser, function, limit, rows);
    if (!st)
      st = sp_unwind_rows_add(rows, limit, &no_rule);
  }
  return st;
}

spanprof_status sp_eh_frame_rows(const sp_eh_frame *frame,
                                 sp_unwind_rows *rows) {
  eh_parser parser = {.mem = rows->mem, .frame = frame};
  sp_dwarf_reader section =
      sp_dwarf_reader_of(frame->bytes, frame->size, frame->vaddr);
  spanprof_status st = SPANPROF_OK;
  eh_record record;

  if (frame->size > UINT32_MAX)
    return SPANPROF_ERR_LIMIT;
  while (!st && eh_record_next(frame, &section, &record))
    st = record.is_cie ? eh_cie_add(&parser, &record)
                       : eh_function_add(&parser, &record);
  if (!st) {
    eh_parser_sort(&parser);
    st = eh_parser_rows(&parser, rows);
  }
  if (!st)
    sp_unwind_rows_seal(rows);
  sp_mem_free(parser.mem, parser.functions);
  sp_mem_free(parser.mem, parser.cies);
  return st;
}
