/* The room's locks around a fork, after which only the forking thread is left.
 */
#ifndef SP_LABEL_FORK_H
#define SP_LABEL_FORK_H

/* Have a fork take them and give them back; whoever is about to take one has
 * called it before. */
void sp_label_fork_ready(void);

#endif
