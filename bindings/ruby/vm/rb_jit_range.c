#include "rb_jit_range.h"

#include <stdbool.h>
#include <string.h>

#include "base/rb_base.h"
#include "base/rb_override.h"
#include "rb_jit_push.h"
#include "unwind/elf/process_maps.h"

/* Minimum size of a run of mappings that is taken for the memory of a compiler.
 * YJIT reserves all its memory at once: by default 256 MiB in Ruby 3.1, 64 MiB
 * in 3.2 and 128 MiB in later versions (--yjit-exec-mem-size). Other code
 * generators in the process use less. */
#define JIT_BYTES_MIN (UINT64_C(1) << 20)

/* In newer versions of Ruby, the name of the compilers' memory begins with
 * this, if the kernel supports names (yjit.c). */
#define JIT_MEMORY_NAME "[anon:Ruby:"

static const char *const jit_names[] = {"YJIT", "RJIT", "ZJIT"};

#define JIT_COUNT (sizeof jit_names / sizeof jit_names[0])

/* A module with the method `enable`, which replaces those of RubyVM::YJIT and
 * similar modules. Guarded by the GVL. */
static VALUE jit_hook_module;
static bool jit_followed;

/* Returns RubyVM::YJIT or a similar module, or nil if this Ruby does not have
 * it. */
static VALUE jit_module(const char *name) {
  VALUE vm = rb_const_get(rb_cObject, rb_intern("RubyVM"));
  ID id = rb_intern(name);

  return rb_const_defined_at(vm, id) ? rb_const_get_at(vm, id) : Qnil;
}

static bool jit_enabled(void) {
  size_t i;

  for (i = 0; i < JIT_COUNT; i++) {
    VALUE jit = jit_module(jit_names[i]);

    if (!NIL_P(jit) && RTEST(rb_funcall(jit, rb_intern("enabled?"), 0)))
      return true;
  }
  return false;
}

/* State of a search for the longest run of adjacent mappings that may belong to
 * a compiler: mappings without a file that are unnamed or named by the VM. */
typedef struct jit_search {
  /* the current run, from its first executable mapping on */
  spanprof_range run;
  bool runs; /* the current run has an executable mapping */
  spanprof_range longest;
} jit_search;

static bool jit_is_anonymous(const sp_process_mapping *mapping) {
  return *mapping->path == '\0' || strncmp(mapping->path, JIT_MEMORY_NAME,
                                           sizeof JIT_MEMORY_NAME - 1) == 0;
}

/* Add a mapping to the search. The mappings of one reservation may differ in
 * access rights, so adjacent mappings count as one run. */
static bool jit_visit(void *data, const sp_process_mapping *mapping) {
  jit_search *search = data;
  spanprof_range *run = &search->run;

  if (!jit_is_anonymous(mapping))
    return false;
  if (run->end != mapping->start) {
    run->start = mapping->start;
    search->runs = false;
  }
  run->end = mapping->limit;
  if (mapping->executable && !search->runs) {
    run->start = mapping->start;
    search->runs = true;
  }
  if (search->runs && run->end - run->start >= JIT_BYTES_MIN &&
      run->end - run->start > search->longest.end - search->longest.start)
    search->longest = *run;
  return false;
}

static bool range_find(spanprof_range *out) {
  char path[sizeof JIT_MEMORY_NAME + 1];
  jit_search search = {0};

  sp_process_maps_each(path, sizeof path, jit_visit, &search);
  *out = search.longest;
  return out->end > 0;
}

/* Tell the core the range of the compiler's code, if there is one. May raise.
 */
static VALUE range_add(VALUE data) {
  spanprof_range range;

  (void)data;
  if (jit_enabled() && range_find(&range)) {
    rb_sp_jit_push_watch(&range);
    spanprof_runtime_eval_add(&range);
  }
  return Qnil;
}

/* RubyVM::YJIT.enable(...) */
static VALUE jit_enable(int argc, VALUE *argv, VALUE self) {
  VALUE enabled =
      rb_sp_override_call(self, rb_sp_override_original("enable"), argc, argv);

  rb_sp_guard(range_add, Qnil);
  return enabled;
}

/* Replace the method `enable` of the compilers' modules. May raise. */
static VALUE jit_hook(VALUE hook) {
  size_t i;

  for (i = 0; i < JIT_COUNT; i++) {
    VALUE jit = jit_module(jit_names[i]);

    if (!NIL_P(jit) && rb_respond_to(jit, rb_intern("enable")))
      rb_sp_override_install(rb_singleton_class(jit), hook);
  }
  return Qnil;
}

void rb_sp_jit_range_init(void) {
  jit_hook_module = rb_define_module_under(rb_sp_native, "JitHook");
  rb_gc_register_mark_object(jit_hook_module);
  rb_define_method(jit_hook_module, "enable", jit_enable, -1);
}

void rb_sp_jit_range_follow(void) {
  if (!jit_followed)
    rb_sp_guard(jit_hook, jit_hook_module);
  jit_followed = true;
  rb_sp_guard(range_add, Qnil);
}
