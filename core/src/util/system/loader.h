/* Serializes this library's use of the dynamic loader with forks. glibc does
 * not reset the loader's lock in a forked child (glibc 2.36, posix/fork.c): if
 * a thread of ours held it during the fork, the child could never load a
 * library or throw an exception. So our threads take this lock around such
 * calls, and a fork waits for it. */
#ifndef SP_LOADER_H
#define SP_LOADER_H

/* Call these around dlopen(), dlclose(), dladdr(), dlsym() and
 * dl_iterate_phdr(). Not recursive. The caller takes no other lock in
 * between. */
void sp_loader_enter(void);
void sp_loader_leave(void);

#endif
