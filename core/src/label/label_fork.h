/* Keeps this folder's locks consistent across a fork; only the forking thread
 * exists in the child. */
#ifndef SP_LABEL_FORK_H
#define SP_LABEL_FORK_H

/* Register the fork hooks that take and release these locks. Every function
 * that may take one of the locks calls this first. */
void sp_label_fork_ready(void);

#endif
