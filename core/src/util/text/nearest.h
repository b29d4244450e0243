/* Finds the name that a misspelled word may mean, for "did you mean". */
#ifndef SP_NEAREST_H
#define SP_NEAREST_H

#include <stddef.h>

/* A function that returns the candidate number `i`. */
typedef const char *(*sp_nearest_name)(const void *names, size_t i);

/* The candidate nearest to `word`: the first one that `word` abbreviates
 * ("app-name" for "application-name"), otherwise the one with the fewest
 * inserted, deleted, changed or swapped letters. Returns NULL if each one
 * differs in more than a third of the word's letters. */
const char *sp_nearest(const char *word, const void *names, size_t count,
                       sp_nearest_name name);

#endif
