/* The last resort for a message: one line on stderr. */
#ifndef SP_STDERR_LINE_H
#define SP_STDERR_LINE_H

/* Write "spanprof: ", `text` and a newline, at most 4096 bytes. Never waits and
 * never raises SIGPIPE: a line that stderr does not accept at once (closed, its
 * reader gone, its pipe or disk full) is dropped. Any thread may call it;
 * preserves errno. */
void sp_stderr_line(const char *text);

#endif
