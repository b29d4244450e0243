/* Keeps the locks of the folder `span` consistent across a fork. */
#ifndef SP_SPAN_FORK_H
#define SP_SPAN_FORK_H

/* Register the fork hooks that take and release the locks of this folder. Every
 * function that may take one of the locks calls this first. */
void sp_span_fork_ready(void);

#endif
