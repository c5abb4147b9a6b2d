#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace plait::base {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
    }
  }
  return row.back();
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || known.empty()) return {};
  const auto distance_to = [&](std::string_view other) { return distance(word, other); };
  const std::string_view closest = *std::ranges::min_element(known, {}, distance_to);
  return distance_to(closest) <= std::min<std::size_t>(2, word.size() - 1) ? closest : std::string_view();
}

std::string list_text(std::span<const std::string_view> words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? " and " : ", ";
    result += words[i];
  }
  return result;
}

}  // namespace plait::base
