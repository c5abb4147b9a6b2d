#include "primitives1993/lists.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace plait::primitives {

Extents list_entries(const Extents& list, std::string_view what) {
  Extents result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == kNone) break;
    const bool rest_is_zero = std::all_of(list.begin() + static_cast<std::ptrdiff_t>(i), list.end(),
                                          [](auto v) { return v == 0 || v == kNone; });
    if (rest_is_zero) break;
    if (list[i] < 1)
      base::throw_argument_error(what, '(', i + 1, ") is ", list[i], "; entries are at least 1, and -1 ends the list");
    result.push_back(list[i]);
  }
  if (result.empty())
    base::throw_argument_error(what, " has no entries; give one for each of 1 to ", kMaxPrimitiveDimensions,
                               " dimensions, then -1");
  return result;
}

Extents fill_grid_list(const Extents& list, std::int64_t ranks) {
  Extents result = list;
  std::int64_t processors = 0;  // product of the entries so far, at most `ranks`; 0 before the first entry
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == kNone) {
      const auto rest = result.begin() + static_cast<std::ptrdiff_t>(i);
      if (processors >= ranks || std::none_of(rest, result.end(), [](auto v) { return v > 0; })) {
        std::fill(rest, result.end(), kNone);
        break;
      }
      result[i] = 1;
    } else if (result[i] < 1 || result[i] > ranks) {
      processors = ranks;  // The entry is an error, whatever follows it.
    } else {
      processors = std::min(std::max<std::int64_t>(processors, 1) * result[i], ranks);
    }
  }
  return result;
}

}  // namespace plait::primitives
