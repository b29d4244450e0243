/* The room's locks around a fork. */
#ifndef SP_SPAN_FORK_H
#define SP_SPAN_FORK_H

/* Have a fork take them and give them back; whoever is about to take one has
 * called it before. */
void sp_span_fork_ready(void);

#endif
