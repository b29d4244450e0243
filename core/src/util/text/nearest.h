/* The name that a misspelled one may mean, for "did you mean". */
#ifndef SP_NEAREST_H
#define SP_NEAREST_H

#include <stddef.h>

/* Name `i` of those to choose from. */
typedef const char *(*sp_nearest_name)(const void *names, size_t i);

/* The name nearest to `word`: the first one that it shortens ("app-name" of
 * "application-name"), else the one with the fewest letters inserted, deleted,
 * changed or swapped with their neighbour, a third of the word's at most. NULL:
 * none is near. */
const char *sp_nearest(const char *word, const void *names, size_t count,
                       sp_nearest_name name);

#endif
