#include "nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/base.h"

#define NEAREST_BYTES_MAX 40 /* longer words are not corrected */

/* The optimal string alignment distance. Three rows of its table suffice,
 * because a swap of two letters uses the value two rows before
 * (en.wikipedia.org, Damerau-Levenshtein_distance). */
static uint32_t nearest_distance(const char *a, const char *b) {
  uint32_t rows[3][NEAREST_BYTES_MAX + 1];
  const size_t a_bytes = strlen(a), b_bytes = strlen(b);
  uint32_t best;
  size_t i, k;

  for (k = 0; k <= b_bytes; k++)
    rows[0][k] = (uint32_t)k;
  for (i = 1; i <= a_bytes; i++) {
    uint32_t *row = rows[i % 3], *before = rows[(i - 1) % 3];

    row[0] = (uint32_t)i;
    for (k = 1; k <= b_bytes; k++) {
      best = before[k - 1] + (a[i - 1] != b[k - 1]);
      best = best < before[k] + 1 ? best : before[k] + 1;
      best = best < row[k - 1] + 1 ? best : row[k - 1] + 1;
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
          best > rows[(i - 2) % 3][k - 2] + 1)
        best = rows[(i - 2) % 3][k - 2] + 1;
      row[k] = best;
    }
  }
  return rows[a_bytes % 3][b_bytes];
}

/* Does `word` abbreviate `name` by shortening some parts of the name, as
 * "app_name" abbreviates "application_name"? */
static bool nearest_shortens(const char *word, const char *name) {
  for (; *word; word++, name++) {
    if (*word == '_' || *word == '-')
      name += strcspn(name, "_-");
    if (*word != *name)
      return false;
  }
  return true;
}

const char *sp_nearest(const char *word, const void *names, size_t count,
                       sp_nearest_name name) {
  const size_t bytes = strlen(word);
  const char *found = NULL;
  uint32_t least = (uint32_t)bytes / 3 + 1;
  size_t i;

  if (bytes < 2 || bytes > NEAREST_BYTES_MAX)
    return NULL;
  for (i = 0; i < count; i++)
    if (nearest_shortens(word, name(names, i)))
      return name(names, i);
  for (i = 0; i < count; i++) {
    const char *one = name(names, i);
    uint32_t distance =
        strlen(one) <= NEAREST_BYTES_MAX ? nearest_distance(word, one) : least;

    if (distance < least) {
      least = distance;
      found = one;
    }
  }
  return found;
}
