/* Writes a message that cannot be logged to stderr, as one line. */
#ifndef SP_STDERR_LINE_H
#define SP_STDERR_LINE_H

/* Write "spanprof: ", `text` and a newline, at most 4096 bytes. It never waits
 * and never raises SIGPIPE: if stderr does not accept the line at once (it is
 * closed, has no reader, or its pipe or disk is full), the line is dropped.
 * Thread-safe; preserves errno. */
void sp_stderr_line(const char *text);

#endif
