#include "unwinder.h"

#include <string.h>

#include "frame_step.h"
#include "module_list.h"
#include "remote_unwind.h"
#include "unwind/elf/demangler.h"

/* Number of cached rules, which are found by pc. They use 112 KiB. A busy
 * process has some thousand different return addresses in its stacks. */
#define UNWINDER_PLACES 2048

/* Maximum number of bytes of a function that are read to guess its unwind rule.
 * Nearly all hand-written functions are shorter. */
#define UNWINDER_GUESS_BYTES 4096

/* Number of bytes from a function's start that show how it saves registers. */
#define UNWINDER_SAVES_BYTES 96

typedef enum unwinder_call {
  UNWINDER_CALL_UNKNOWN,
  UNWINDER_CALL,
  UNWINDER_NO_CALL,
} unwinder_call;

/* An address, its module, and the rule to unwind from it. */
typedef struct unwinder_place {
  uint64_t pc; /* the address that was looked up */
  uint64_t bias;
  uint32_t module; /* 0: the address is in no module, or the entry is free */
  uint8_t call;    /* does a call end at this byte? a value of unwinder_call */
  bool guessed;    /* the rule was guessed, so the caller must be checked */
  sp_unwind_rule rule;
} unwinder_place;

struct sp_unwinder {
  const sp_mem *mem;
  sp_module_list modules;
  sp_demangler demangler;
  /* NULL: not needed yet, or libunwind is not available. */
  sp_remote_unwind *remote;
  bool remote_tried;
  bool refreshed; /* the module list was refreshed during this walk */
  uint64_t generation;
  unwinder_place *places; /* a cache, by hash of the pc */
  uint64_t *pcs;          /* addresses found by libunwind */
  size_t pcs_capacity;
  char name[SP_SYMBOL_NAME_MAX];
};

/* Guess the unwind rule of a frame that was interrupted in a function that
 * saves registers by mov instructions. */
static bool unwinder_guess_saves(sp_module_entry *module, uint64_t pc,
                                 sp_unwind_rule *out) {
  uint8_t code[UNWINDER_SAVES_BYTES], next;
  uint64_t start, limit;

  return sp_module_entry_bounds(module, pc, &start, &limit) &&
         limit - start >= sizeof code &&
         sp_module_entry_read(module, start, code, sizeof code) &&
         sp_module_entry_read(module, pc, &next, sizeof next) &&
         sp_frame_rule_saves(code, sizeof code, pc - start, next, out);
}

/* Guess the unwind rule of code without unwind information from its machine
 * code. */
static sp_unwind_rule unwinder_guess(sp_module_entry *module, uint64_t pc,
                                     bool exact) {
  static const sp_unwind_rule none = {.cfa_kind = SP_CFA_NONE};
  const uint64_t at = exact ? pc : pc + 1;
  uint8_t code[UNWINDER_GUESS_BYTES];
  uint64_t start, limit;
  sp_unwind_rule rule;

  if (sp_module_entry_read(module, at, code, 16) &&
      sp_frame_rule_guess(code, 16, 0, exact, &rule))
    return rule;
  if (!sp_module_entry_bounds(module, pc, &start, &limit) ||
      at - start >= sizeof code ||
      !sp_module_entry_read(module, start, code, (size_t)(at - start) + 1))
    return none;
  if (!sp_frame_rule_guess(code, (size_t)(at - start) + 1, pc - start, exact,
                           &rule))
    return none;
  return rule;
}

static void unwinder_cache_clear(sp_unwinder *unwinder) {
  size_t i;

  /* Do not write to free entries, because their pages use no memory until they
   * are written. */
  for (i = 0; i < UNWINDER_PLACES; i++)
    if (unwinder->places[i].module != 0)
      unwinder->places[i].module = 0;
}

void sp_unwinder_scan(sp_unwinder *unwinder) {
  /* If there is no memory, the list may be incomplete, and the next call tries
   * again. */
  (void)sp_module_list_refresh(&unwinder->modules);
  if (unwinder->generation == unwinder->modules.generation)
    return;
  unwinder->generation = unwinder->modules.generation;
  unwinder_cache_clear(unwinder);
}

static void unwinder_lookup(sp_unwinder *unwinder, uint64_t pc, bool exact,
                            unwinder_place *out) {
  const sp_mapping *mapping = sp_module_list_find(&unwinder->modules, pc);
  sp_module_entry *module;

  if (!mapping && !unwinder->refreshed) {
    sp_unwinder_scan(unwinder);
    unwinder->refreshed = true;
    mapping = sp_module_list_find(&unwinder->modules, pc);
  }
  *out = (unwinder_place){.pc = pc};
  if (!mapping || pc < mapping->code_start || pc >= mapping->code_limit)
    return;
  out->bias = mapping->bias;
  out->module = mapping->module;
  module = sp_module_list_get(&unwinder->modules, mapping->module);
  out->rule =
      *sp_unwind_rows_find(sp_module_entry_rows(module), pc - mapping->bias);
  if (out->rule.cfa_kind != SP_CFA_NONE)
    return;
  out->guessed =
      exact && unwinder_guess_saves(module, pc - mapping->bias, &out->rule);
  if (!out->guessed)
    out->rule = unwinder_guess(module, pc - mapping->bias, exact);
}

/* Look up an address with unwinder_lookup(), or find it in the cache. Addresses
 * outside all modules are not cached, because a module may be loaded there
 * later. The cache ignores `exact`, because it follows from the address: an
 * exact address begins an instruction, and the others (return address - 1) do
 * not. */
static unwinder_place *unwinder_find(sp_unwinder *unwinder, uint64_t pc,
                                     bool exact) {
  const size_t slot =
      (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % UNWINDER_PLACES;
  unwinder_place *place = &unwinder->places[slot];

  if (SP_LIKELY(place->pc == pc && place->module != 0))
    return place;
  unwinder_lookup(unwinder, pc, exact, place);
  return place;
}

/* Is `pc` the return address of a call? */
static bool unwinder_returns_to(sp_unwinder *unwinder, uint64_t pc) {
  unwinder_place *place = unwinder_find(unwinder, pc - 1, false);
  uint8_t before[SP_FRAME_CALL_BYTES];
  sp_module_entry *module =
      sp_module_list_get(&unwinder->modules, place->module);

  if (module && place->call == UNWINDER_CALL_UNKNOWN)
    place->call = sp_module_entry_read(module, pc - place->bias - sizeof before,
                                       before, sizeof before) &&
                          sp_frame_code_calls(before)
                      ? UNWINDER_CALL
                      : UNWINDER_NO_CALL;
  return place->call == UNWINDER_CALL;
}

static void unwinder_frame(const unwinder_place *place, uint64_t pc,
                           sp_native_frame *out) {
  *out = (sp_native_frame){
      .module = place->module,
      .address = place->module ? pc - place->bias : pc,
      .pc = pc,
  };
}

/* May a return address outside all modules belong to code that was generated at
 * run time? Such code is neither in the pages that cannot be mapped
 * (vm.mmap_min_addr, 64 KiB by default), nor in the kernel's half of the
 * address space, nor on this stack. Wrong return addresses occur in the
 * instructions that enter a C++ exception handler, because there libgcc does
 * not follow the compiler's unwind information. */
static bool unwinder_plausible(const sp_stack_slice *slice, uint64_t pc) {
  return pc >= 65536 && pc <= INT64_MAX &&
         (pc < slice->base || pc - slice->base >= slice->size);
}

/* Walk the stack with rows. *step is the reason why the walk ended.
 * SP_STEP_CALLER means that `max` frames were written. */
static size_t unwinder_walk_rows(sp_unwinder *unwinder,
                                 const sp_stack_slice *slice,
                                 sp_native_frame *out, size_t max,
                                 sp_step *step) {
  sp_frame_state state;
  size_t n = 0;

  sp_frame_state_init(&state, slice);
  *step = SP_STEP_CALLER;
  while (n < max && *step == SP_STEP_CALLER) {
    const uint64_t pc = state.registers.r[SP_REGISTER_PC];
    const bool exact = state.all;
    const uint64_t at = exact ? pc : pc - 1;
    const unwinder_place *place = unwinder_find(unwinder, at, exact);
    const bool signal = place->rule.cfa_kind == SP_CFA_SIGNAL;
    const bool guessed = place->guessed;

    if (n > 0 && place->module == 0 && !unwinder_plausible(slice, pc)) {
      *step = SP_STEP_NO_INFO;
      break;
    }
    /* The code that returns from a signal handler has not made a call: the pc
     * is at its start. So the pc is not decremented. */
    unwinder_frame(place, signal ? pc : at, &out[n++]);
    *step = sp_frame_step(&state, &place->rule);
    /* If code without unwind information was entered with the frame pointer of
     * an outermost frame (AMD64 ABI 1.0, §3.4.1), it is the outermost frame:
     * musl starts the program and threads with such code. */
    if (*step == SP_STEP_NO_INFO && !exact && place->module != 0 &&
        place->rule.cfa_kind == SP_CFA_NONE && state.fp_known &&
        state.registers.r[SP_REGISTER_FP] == 0)
      *step = SP_STEP_COMPLETE;
    if (*step == SP_STEP_CALLER && guessed &&
        !unwinder_returns_to(unwinder, state.registers.r[SP_REGISTER_PC]))
      *step = SP_STEP_NO_INFO;
  }
  return n;
}

static size_t unwinder_walk_remote(sp_unwinder *unwinder,
                                   const sp_stack_slice *slice,
                                   sp_native_frame *out, size_t max,
                                   sp_unwind_end *end) {
  bool exact = true;
  size_t n, i;

  if (!unwinder->remote && !unwinder->remote_tried) {
    const spanprof_status st = sp_remote_unwind_new(
        &unwinder->remote, &unwinder->modules, unwinder->mem);

    unwinder->remote_tried = st != SPANPROF_ERR_NOMEM;
  }
  if (!unwinder->remote ||
      sp_mem_reserve(unwinder->mem, (void **)&unwinder->pcs,
                     &unwinder->pcs_capacity, max, sizeof *unwinder->pcs))
    return 0;
  n = sp_remote_unwind_walk(unwinder->remote, slice, unwinder->pcs, max, end);
  for (i = 0; i < n; i++) {
    const uint64_t pc = unwinder->pcs[i];
    const uint64_t at = exact ? pc : pc - 1;
    const unwinder_place *place = unwinder_find(unwinder, at, exact);

    exact = place->rule.cfa_kind == SP_CFA_SIGNAL;
    unwinder_frame(place, exact ? pc : at, &out[i]);
  }
  return n;
}

static sp_unwind_end unwinder_result(sp_step step) {
  switch (step) {
  case SP_STEP_COMPLETE:
    return SP_UNWIND_COMPLETE;
  case SP_STEP_CALLER:
  case SP_STEP_CUT:
    return SP_UNWIND_CUT;
  default:
    return SP_UNWIND_NO_INFO;
  }
}

spanprof_status sp_unwinder_new(sp_unwinder **out, const sp_mem *mem) {
  sp_unwinder *unwinder = sp_mem_zero(mem, sizeof *unwinder);
  spanprof_status st;

  *out = NULL;
  if (!unwinder)
    return SPANPROF_ERR_NOMEM;
  unwinder->mem = mem;
  sp_module_list_init(&unwinder->modules, mem);
  sp_demangler_init(&unwinder->demangler);
  unwinder->places =
      sp_mem_zero(mem, UNWINDER_PLACES * sizeof *unwinder->places);
  st = unwinder->places ? sp_module_list_refresh(&unwinder->modules)
                        : SPANPROF_ERR_NOMEM;
  if (st) {
    sp_unwinder_free(unwinder);
    return st;
  }
  *out = unwinder;
  return SPANPROF_OK;
}

void sp_unwinder_free(sp_unwinder *unwinder) {
  if (!unwinder)
    return;
  sp_remote_unwind_free(unwinder->remote);
  sp_demangler_dispose(&unwinder->demangler);
  sp_module_list_dispose(&unwinder->modules);
  sp_mem_free(unwinder->mem, unwinder->places);
  sp_mem_free(unwinder->mem, unwinder->pcs);
  sp_mem_free(unwinder->mem, unwinder);
}

void sp_unwinder_refresh(sp_unwinder *unwinder) {
  sp_module_list_age(&unwinder->modules);
  sp_unwinder_scan(unwinder);
}

size_t sp_unwinder_walk(sp_unwinder *unwinder, const sp_stack_slice *slice,
                        sp_native_frame *out, size_t max, sp_unwind_end *end) {
  sp_step step;
  size_t n;

  unwinder->refreshed = false;
  n = unwinder_walk_rows(unwinder, slice, out, max, &step);
  *end = unwinder_result(step);
  if (step == SP_STEP_UNSUPPORTED) {
    sp_unwind_end remote_end;
    size_t remote_n;

    remote_n = unwinder_walk_remote(unwinder, slice, out, max, &remote_end);
    if (remote_n > n) {
      n = remote_n;
      *end = remote_end;
    }
  }
  return n;
}

const sp_module *sp_unwinder_module(const sp_unwinder *unwinder,
                                    uint32_t module) {
  const sp_module_entry *entry = sp_module_list_get(&unwinder->modules, module);

  return entry ? &entry->view : NULL;
}

uint32_t sp_unwinder_module_at(const sp_unwinder *unwinder, uint64_t address) {
  const sp_mapping *mapping = sp_module_list_find(&unwinder->modules, address);

  return mapping ? mapping->module : 0;
}

bool sp_unwinder_symbol(sp_unwinder *unwinder, uint32_t module,
                        uint64_t address, const char **name, uint64_t *start) {
  sp_module_entry *entry = sp_module_list_get(&unwinder->modules, module);

  *name = NULL;
  *start = 0;
  if (!entry || !sp_module_entry_symbol(entry, address, unwinder->name, start))
    return false;
  sp_demangler_apply(&unwinder->demangler, unwinder->name,
                     sizeof unwinder->name, unwinder->modules.generation);
  *name = unwinder->name;
  return true;
}

bool sp_unwinder_function(sp_unwinder *unwinder, uint32_t module,
                          uint64_t address, uint64_t *start) {
  sp_module_entry *entry = sp_module_list_get(&unwinder->modules, module);

  return entry && sp_module_entry_function(entry, address, start);
}

bool sp_unwinder_calls_by_pointer(sp_unwinder *unwinder, uint32_t module,
                                  uint64_t address) {
  sp_module_entry *entry = sp_module_list_get(&unwinder->modules, module);
  uint8_t before[SP_FRAME_CALL_BYTES];

  return entry &&
         sp_module_entry_read(entry, address + 1 - sizeof before, before,
                              sizeof before) &&
         sp_frame_code_calls_pointer(before);
}

bool sp_unwinder_incomplete(const sp_unwinder *unwinder, uint32_t module) {
  const sp_module_entry *entry = sp_module_list_get(&unwinder->modules, module);

  return entry && entry->incomplete;
}

bool sp_unwinder_named(sp_unwinder *unwinder, uint32_t module,
                       uint64_t address) {
  sp_module_entry *entry = sp_module_list_get(&unwinder->modules, module);

  return entry && sp_module_entry_named(entry, address);
}

void sp_unwinder_close_files(sp_unwinder *unwinder) {
  if (sp_module_list_close_files(&unwinder->modules))
    unwinder_cache_clear(unwinder);
}
