/* What other files of this room ask of the session; the rest of it is in
 * spanprof.h. */
#ifndef SP_SESSION_H
#define SP_SESSION_H

/* Have a fork take the session's locks, and the resource's, and give them back;
 * whoever is about to take one of them has called it before. */
void sp_session_fork_ready(void);

#endif
