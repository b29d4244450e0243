/* Where the VM's compilers at run time (YJIT, RJIT, ZJIT) put the code they
 * make. It has no unwind information and no names: to the profiler it is a part
 * of the interpreter. */
#ifndef RB_JIT_RANGE_H
#define RB_JIT_RANGE_H

/* Once, when the extension loads. */
void rb_sp_jit_range_init(void);

/* Tell the core of the range there is, and of one that a compiler is given by
 * RubyVM::YJIT.enable (since Ruby 3.3; Rails 7.2 calls it after the
 * application's initializers). After the runtime is registered; never
 * raises. */
void rb_sp_jit_range_follow(void);

#endif
