#include "number.h"

#include "ascii.h"

spanprof_status sp_number_read(const char **text, const char *end,
                               uint64_t *out) {
  const char *p = *text;
  uint64_t number = 0;
  bool over = false;

  for (; p != end && sp_ascii_digit(*p); p++)
    over = over || __builtin_mul_overflow(number, UINT64_C(10), &number) ||
           __builtin_add_overflow(number, (uint64_t)(*p - '0'), &number);
  *out = over ? UINT64_MAX : number;
  if (p == *text)
    return SPANPROF_ERR_FORMAT;
  *text = p;
  return over ? SPANPROF_ERR_LIMIT : SPANPROF_OK;
}

bool sp_number_read_canonical(const char **text, uint64_t *out) {
  const char *p = *text;
  uint64_t number;

  if ((p[0] == '0' && sp_ascii_digit(p[1])) ||
      sp_number_read(&p, NULL, &number))
    return false;
  *text = p;
  *out = number;
  return true;
}

bool sp_number_is(const char *text, uint64_t most, uint64_t *out) {
  if (!sp_number_read(&text, NULL, out) && !*text && *out <= most)
    return true;
  *out = 0;
  return false;
}

spanprof_status sp_number_signed(const char *start, const char *end,
                                 int64_t *out) {
  const bool minus = start != end && *start == '-';
  const uint64_t most = (uint64_t)INT64_MAX + minus;
  uint64_t number;
  spanprof_status st;

  *out = 0;
  if (start != end && (*start == '-' || *start == '+'))
    start++;
  st = sp_number_read(&start, end, &number);
  if (st == SPANPROF_ERR_FORMAT || start != end)
    return SPANPROF_ERR_FORMAT;
  if (number > most) {
    number = most;
    st = SPANPROF_ERR_LIMIT;
  }
  *out = (int64_t)(minus ? -number : number);
  return st;
}
