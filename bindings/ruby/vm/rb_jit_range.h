/* Finds the memory of code that the VM's compilers (YJIT, RJIT, ZJIT) generate.
 * This code has no unwind information and no names; the profiler treats it as a
 * part of the interpreter. */
#ifndef RB_JIT_RANGE_H
#define RB_JIT_RANGE_H

/* Called once, when the extension loads. */
void rb_sp_jit_range_init(void);

/* Tell the core the range of the compiler's code, if a compiler is enabled. If
 * the program enables one later, tell the core its range then
 * (RubyVM::YJIT.enable exists since Ruby 3.3; Rails 7.2 calls it after the
 * application's initializers). Called after the runtime was registered. Never
 * raises. */
void rb_sp_jit_range_follow(void);

#endif
