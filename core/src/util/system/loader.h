/* The dynamic loader, as used by the library's own threads. Its lock is not
 * made anew in a forked child (glibc 2.36, posix/fork.c): a child made while a
 * thread of ours is in there could never load a library or throw again. So
 * those threads say when they are, and a fork waits for them. */
#ifndef SP_LOADER_H
#define SP_LOADER_H

/* Around dlopen(), dlclose(), dladdr(), dlsym() and dl_iterate_phdr(). Not
 * recursive; no other lock is taken in between. */
void sp_loader_enter(void);
void sp_loader_leave(void);

#endif
