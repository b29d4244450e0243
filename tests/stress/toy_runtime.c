/* A toy bytecode interpreter registers as the language runtime of the process.
 * In stacks, the frames of its functions must replace those of its eval loop,
 * even if it recurses through native code. The names of frames are resolved on
 * any thread or on a thread of the interpreter, and in a third case the
 * interpreter registers and unregisters repeatedly. */
#include <spanprof/runtime.h>

#include "stress_run.h"

#define TOY_THREADS   3
#define TOY_FUNCTIONS 4
#define TOY_DEPTH     6

typedef enum toy_op {
  TOY_BURN,
  TOY_CALL,   /* call another function in the same eval loop */
  TOY_NATIVE, /* call a native function that evaluates another function */
  TOY_RETURN,
} toy_op;

typedef struct toy_instruction {
  toy_op op;
  unsigned function;
} toy_instruction;

typedef struct toy_function {
  const char *name;
  toy_instruction code[4];
} toy_function;

/* The program: outer calls middle in the same eval loop, middle calls inner
 * through the native function toy_bridge(), and inner calls leaf. */
static const toy_function toy_functions[TOY_FUNCTIONS] = {
    {"toy:outer", {{TOY_BURN, 0}, {TOY_CALL, 1}, {TOY_RETURN, 0}}},
    {"toy:middle", {{TOY_BURN, 0}, {TOY_NATIVE, 2}, {TOY_RETURN, 0}}},
    {"toy:inner", {{TOY_CALL, 3}, {TOY_BURN, 0}, {TOY_RETURN, 0}}},
    {"toy:leaf", {{TOY_BURN, 0}, {TOY_BURN, 0}, {TOY_RETURN, 0}}},
};

typedef struct toy_frame {
  _Atomic uint32_t function;
  _Atomic uint32_t pc;
  _Atomic bool entry; /* first frame of an eval loop */
} toy_frame;

/* The interpreter's state of one thread. The thread writes it, and the signal
 * handler on this thread reads it. The thread writes a frame before it
 * increments `depth`, which makes the frame visible. */
typedef struct toy_machine {
  _Atomic uint32_t depth;
  toy_frame frames[TOY_DEPTH];
} toy_machine;

static uint64_t work_until_ns;
static _Atomic uint64_t names_direct, names_pumped;
static _Atomic bool names_requested, pump_over;

static void machine_push(toy_machine *machine, unsigned function, bool entry) {
  uint32_t depth = atomic_load(&machine->depth);
  toy_frame *frame = &machine->frames[depth];

  STRESS_REQUIRE(depth < TOY_DEPTH, "too deep");
  atomic_store(&frame->function, function);
  atomic_store(&frame->pc, 0);
  atomic_store(&frame->entry, entry);
  atomic_store(&machine->depth, depth + 1);
}

static void machine_pop(toy_machine *machine) {
  atomic_fetch_sub(&machine->depth, 1);
}

STRESS_NAMED static void toy_native_burn(void) {
  stress_burn(20 * STRESS_NS_PER_US);
  STRESS_STAY;
}

typedef void toy_eval_fn(toy_machine *machine, unsigned function);

/* toy_bridge(), the native function that evaluates another function. toy_eval()
 * calls it through this pointer. */
static toy_eval_fn *volatile toy_bridge_pointer;

/* The eval loop. It is alone in its section, so the bounds of the section are
 * the range of its code. */
__attribute__((section("toy_eval_text"))) STRESS_NAMED static void
toy_eval(toy_machine *machine, unsigned function) {
  uint32_t base = atomic_load(&machine->depth);

  machine_push(machine, function, true);
  while (atomic_load(&machine->depth) > base) {
    toy_frame *frame = &machine->frames[atomic_load(&machine->depth) - 1];
    const toy_instruction *next = &toy_functions[atomic_load(&frame->function)]
                                       .code[atomic_load(&frame->pc)];

    switch (next->op) {
    case TOY_BURN:
      toy_native_burn();
      break;
    case TOY_CALL:
      atomic_fetch_add(&frame->pc, 1);
      machine_push(machine, next->function, false);
      continue;
    case TOY_NATIVE:
      toy_bridge_pointer(machine, next->function);
      break;
    case TOY_RETURN:
      machine_pop(machine);
      continue;
    }
    atomic_fetch_add(&frame->pc, 1);
  }
}

STRESS_NAMED static void toy_bridge(toy_machine *machine, unsigned function) {
  toy_eval(machine, function);
  STRESS_STAY;
}

/* The linker's names for the bounds of the section. */
extern const char __start_toy_eval_text[], __stop_toy_eval_text[];

static size_t toy_walk(void *data, const spanprof_capture *capture,
                       spanprof_frame *frames, size_t max, int *cut) {
  const toy_machine *machine = capture->thread_data;
  uint32_t depth;
  size_t count = 0;

  (void)data;
  if (!machine)
    return 0;
  depth = atomic_load(&machine->depth);
  for (; depth > 0 && count < max; depth--) {
    const toy_frame *frame = &machine->frames[depth - 1];

    frames[count++] = (spanprof_frame){
        .code = 1000 + atomic_load(&frame->function),
        .offset = atomic_load(&frame->pc),
        .flags = atomic_load(&frame->entry) ? SPANPROF_FRAME_ENTRY : 0};
  }
  *cut = depth > 0;
  return count;
}

static spanprof_status toy_resolve(void *data, const spanprof_frame *frame,
                                   spanprof_name *out) {
  const toy_function *function;

  if (frame->code < 1000 || frame->code >= 1000 + TOY_FUNCTIONS)
    return SPANPROF_ERR_ARGUMENT;
  function = &toy_functions[frame->code - 1000];
  out->function = function->name;
  out->function_bytes = strlen(function->name);
  out->file = "toy.bc";
  out->file_bytes = 6;
  out->line = (int64_t)frame->offset + 1;
  (*(_Atomic uint64_t *)data)++;
  return SPANPROF_OK;
}

static void toy_request_names(void *data) {
  (void)data;
  atomic_store(&names_requested, true);
}

static void *pump_run(void *data) {
  while (!atomic_load(&pump_over)) {
    if (atomic_exchange(&names_requested, false))
      while (spanprof_runtime_resolve(8) > 0)
        continue;
    stress_sleep_ms(1);
  }
  return data;
}

static void *worker_run(void *data) {
  toy_machine *machine = calloc(1, sizeof *machine);

  (void)data;
  STRESS_OK(spanprof_thread_set_data(machine));
  while (stress_now_ns() < work_until_ns)
    toy_bridge_pointer(machine, 0);
  STRESS_OK(spanprof_thread_set_data(NULL));
  free(machine);
  return NULL;
}

typedef struct toy_seen {
  bool full;          /* native frames are shown */
  uint64_t leaf;      /* ticks with the complete expected stack */
  uint64_t language;  /* ticks with a language frame */
  uint64_t eval;      /* ticks with the eval loop and language frames */
  uint64_t eval_only; /* ticks with the eval loop and no language frame */
  uint64_t wrong;     /* ticks with frames in an impossible order */
  uint64_t unnamed;
} toy_seen;

/* Returns the index of a function in the stack, from `from` on, or the length
 * of the stack if the function is missing. */
static size_t stack_find(const tally_sample *sample, size_t from,
                         const char *function) {
  while (from < sample->function_count &&
         strcmp(sample->functions[from], function) != 0)
    from++;
  return from;
}

/* Are the language frames in the order of the calls, innermost first? None may
 * be missing, except that `unnamed` allows frames that have no name yet. */
static bool order_right(const tally_sample *sample, bool unnamed) {
  static const char *const calls[] = {"toy:leaf", "toy:inner", "toy:middle",
                                      "toy:outer"};
  const size_t end = sample->function_count;
  size_t inner = end, at, i;

  for (i = 0; i < STRESS_COUNT_OF(calls); i++) {
    at = stack_find(sample, 0, calls[i]);
    if (inner < end && (at == end ? !unnamed : at < inner))
      return false;
    if (at < end)
      inner = at;
  }
  return true;
}

static void sample_add(void *data, const tally_sample *sample) {
  static const char *const full[] = {
      "toy_native_burn", "toy:leaf",  "toy:inner",  "toy_bridge",
      "toy:middle",      "toy:outer", "toy_bridge", "worker_run"};
  static const char *const language_only[] = {"toy:leaf", "toy:inner",
                                              "toy:middle", "toy:outer"};
  toy_seen *seen = data;
  const char *const *whole = seen->full ? full : language_only;
  const size_t wanted =
      seen->full ? STRESS_COUNT_OF(full) : STRESS_COUNT_OF(language_only);
  size_t end = sample->function_count, at = 0, i;
  bool eval = stack_find(sample, 0, "toy_eval") < end;
  bool language = stack_find(sample, 0, "toy:outer") < end;
  bool unnamed = stack_find(sample, 0, "(unknown)") < end;

  if (unnamed)
    seen->unnamed += sample->ticks;
  if (language)
    seen->language += sample->ticks;
  if (eval && language)
    seen->eval += sample->ticks;
  if (eval && !language)
    seen->eval_only += sample->ticks;
  if (!order_right(sample, unnamed)) {
    seen->wrong += sample->ticks;
    for (i = 0; i < end && seen->wrong < 5; i++)
      fprintf(stderr, "wrong: %zu %s\n", i, sample->functions[i]);
  }
  for (i = 0; i < wanted && at < end; i++)
    at = stack_find(sample, at, whole[i]) + 1;
  if (i == wanted && (seen->full ? at <= end : at == end))
    seen->leaf += sample->ticks;
}

typedef enum toy_way { TOY_DIRECT, TOY_PUMPED, TOY_COMING_AND_GOING } toy_way;

static void way_try(const char *name, toy_way way, uint64_t for_ns) {
  spanprof_range eval = {(uint64_t)(uintptr_t)__start_toy_eval_text,
                         (uint64_t)(uintptr_t)__stop_toy_eval_text};
  spanprof_runtime runtime = {
      .struct_size = sizeof runtime,
      .name = "toy",
      .version = "1",
      .data = way == TOY_DIRECT ? &names_direct : &names_pumped,
      .walk = toy_walk,
      .resolve = toy_resolve,
      .want_names = way == TOY_DIRECT ? NULL : toy_request_names,
      .eval_ranges = &eval,
      .eval_range_count = 1};
  pthread_t threads[TOY_THREADS], pump;
  static stress_run run;
  toy_seen seen = {.full = way == TOY_PUMPED};
  unsigned i, rounds = 0;

  work_until_ns = stress_now_ns() + for_ns;
  atomic_store(&pump_over, false);
  STRESS_OK(spanprof_runtime_register(&runtime));
  STRESS_REQUIRE(spanprof_runtime_register(&runtime) == SPANPROF_ERR_STATE,
                 "registered twice");
  stress_run_init(&run, "toy_runtime");
  run.sum.on_sample = sample_add;
  run.sum.on_sample_data = &seen;
  run.options.native_frames =
      seen.full ? SPANPROF_NATIVE_FRAMES_ALL : SPANPROF_NATIVE_FRAMES_LIBRARIES;
  stress_run_start(&run);
  pthread_create(&pump, NULL, pump_run, NULL);
  for (i = 0; i < TOY_THREADS; i++)
    pthread_create(&threads[i], NULL, worker_run, NULL);
  while (way == TOY_COMING_AND_GOING && stress_now_ns() < work_until_ns) {
    stress_sleep_ms(rounds++ % 3);
    spanprof_runtime_unregister();
    STRESS_OK(spanprof_runtime_register(&runtime));
  }
  for (i = 0; i < TOY_THREADS; i++)
    pthread_join(threads[i], NULL);
  stress_run_stop(&run, 5000);
  atomic_store(&pump_over, true);
  pthread_join(pump, NULL);
  spanprof_runtime_unregister();
  printf("%s: ticks with language frames %llu, whole stack %llu, eval loop "
         "next to them %llu, eval loop alone %llu, unnamed %llu; ",
         name, (unsigned long long)seen.language, (unsigned long long)seen.leaf,
         (unsigned long long)seen.eval, (unsigned long long)seen.eval_only,
         (unsigned long long)seen.unnamed);
  if (way == TOY_COMING_AND_GOING)
    printf("registered %u times; ", rounds);
  stress_run_print(&run);
  STRESS_REQUIRE(seen.wrong == 0,
                 "%llu ticks have frames in an impossible order",
                 (unsigned long long)seen.wrong);
  /* When the interpreter registers again, requests for names that are not
   * resolved yet are discarded, so complete stacks are not required. */
  if (way == TOY_COMING_AND_GOING)
    STRESS_REQUIRE(seen.language + seen.unnamed > 0,
                   "no tick has language frames");
  else
    STRESS_REQUIRE(seen.leaf > 0 && seen.eval == 0 && seen.eval_only == 0,
                   "no tick has the whole stack, or a tick has the eval loop");
  if (way == TOY_DIRECT)
    STRESS_REQUIRE(seen.unnamed == 0, "ticks have frames without a name");
  stress_run_dispose(&run);
}

int main(void) {
  uint64_t third_ns;

  stress_begin();
  third_ns = stress_seconds() * STRESS_NS_PER_S / 3;
  stress_wall_hz(STRESS_TSAN ? "500" : "2000");
  toy_bridge_pointer = toy_bridge;
  way_try("names on any thread", TOY_DIRECT, third_ns);
  way_try("names on a thread of the interpreter", TOY_PUMPED, third_ns);
  way_try("coming and going", TOY_COMING_AND_GOING, third_ns);
  STRESS_REQUIRE(names_direct > 0 && names_pumped > 0,
                 "no names were requested");
  return 0;
}
