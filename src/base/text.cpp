#include "base/text.hpp"

#include <array>
#include <iomanip>

namespace plait::base {

std::string tuple_text(std::span<const std::int64_t> values) {
  std::ostringstream out;
  out << '(';
  for (std::size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : ", ") << values[i];
  out << ')';
  return out.str();
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::ostringstream out;
  const bool whole = unit == 0 || value == static_cast<double>(static_cast<std::int64_t>(value));
  out << std::fixed << std::setprecision(whole ? 0 : 1) << value << ' ' << kUnits[unit];
  return out.str();
}

}  // namespace plait::base
