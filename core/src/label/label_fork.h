/* Keeps this folder's locks usable in a forked child, where only the forking
 * thread exists. */
#ifndef SP_LABEL_FORK_H
#define SP_LABEL_FORK_H

/* Register the fork hooks that take and release the locks of this folder. Every
 * function that may take one of these locks first calls sp_label_fork_ready().
 */
void sp_label_fork_ready(void);

#endif
