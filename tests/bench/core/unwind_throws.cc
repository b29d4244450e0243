// Exceptions through several frames, for unwind_agreement to load at run time.
#include <map>
#include <stdexcept>
#include <string>

namespace {

struct Guard {
  std::string text;
  explicit Guard(unsigned n) : text(40, static_cast<char>('a' + n % 26)) {
  }
  ~Guard() {
    text.clear();
  }
};

[[gnu::noinline]] unsigned descend(unsigned depth, unsigned seed) {
  Guard guard(seed + depth);

  if (depth == 0)
    throw std::runtime_error(guard.text);
  return descend(depth - 1, seed) + static_cast<unsigned>(guard.text.size());
}

template <typename Key>
[[gnu::noinline]] unsigned count(std::map<Key, unsigned> &map, Key key) {
  return ++map[key];
}

} // namespace

extern "C" unsigned unwind_throws(unsigned round) {
  std::map<std::string, unsigned> map;
  unsigned sum = 0;

  for (unsigned i = 0; i < 40; i++) {
    try {
      sum += descend((round + i) % 12, i);
    } catch (const std::exception &error) {
      sum += count(map, std::string(error.what()));
    }
  }
  return sum;
}
