/* Serializes this library's use of the dynamic loader with forks. glibc does
 * not reset the loader's lock in a forked child (glibc 2.36, posix/fork.c): if
 * a thread of spanprof held that lock during the fork, the child could never
 * load a library or throw an exception. So spanprof's threads take another lock
 * around such calls, and a fork waits for it. */
#ifndef SP_LOADER_H
#define SP_LOADER_H

/* Take and release the lock around dlopen(), dlclose(), dladdr(), dlsym() and
 * dl_iterate_phdr(). The lock is not recursive. The caller takes no other lock
 * while it holds this one. */
void sp_loader_enter(void);
void sp_loader_leave(void);

#endif
