/* The name that somebody meant who typed another: for "did you mean". */
#ifndef SP_NEAREST_H
#define SP_NEAREST_H

#include <stddef.h>

/* Name `i` of those to choose from. */
typedef const char *(*sp_nearest_name)(const void *names, size_t i);

/* The one nearest to `word`: of those that begin with it the first, else the
 * one that the fewest letters put in, left out, changed or swapped with their
 * neighbour lead to, a third of the word's at most. NULL: none is near. */
const char *sp_nearest(const char *word, const void *names, size_t count,
                       sp_nearest_name name);

#endif
