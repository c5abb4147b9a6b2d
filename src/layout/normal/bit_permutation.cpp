// Permutes the bits of an element's number.
//
// `unit_` and `position_` name the bit of the source for each bit of the target, most significant first. Example:
// unit {1} and position {2, 0}, from a source of 3 bits without a unit. Number 6 = 110 in binary has bit 1 = 1, so
// its unit is 1; bits 2 and 0 are 1 and 0, so its position is 2. The lowest bit of the position is bit 0 of the
// source, so blocks of 2 elements stay together.

#include "plait/bit_permutation.hpp"

#include <algorithm>
#include <cctype>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait {

namespace {

constexpr int kMaxBits = 62;

void check_number(std::int64_t number, int bits, const char* what) {
  if (number < 0 || number >> bits != 0)
    base::throw_argument_error("the ", what, " ", number, " does not fit into ", bits, " bits; it must be from 0 to ",
                               (std::int64_t{1} << bits) - 1);
}

void check_pattern(std::string_view pattern, int bits, const char* what) {
  if (static_cast<int>(pattern.size()) != bits)
    base::throw_argument_error("the pattern \"", pattern, "\" of the ", what, " has ", pattern.size(),
                               " characters; expected ", bits, ", one for each bit");
  for (const char c : pattern)
    if (c != '0' && c != '1' && std::isalpha(static_cast<unsigned char>(c)) == 0)
      base::throw_argument_error("the pattern \"", pattern, "\" of the ", what, " has '", c,
                                 "' in it; expected 0, 1 or a letter");
}

}  // namespace

BitPermutation::BitPermutation(std::vector<int> unit, std::vector<int> position, int source_unit_bits)
    : unit_(std::move(unit)), position_(std::move(position)), source_unit_bits_(source_unit_bits) {
  const std::size_t bits = unit_.size() + position_.size();
  if (bits > kMaxBits)
    base::throw_argument_error("a bit permutation of ", bits, " bits; at most ", kMaxBits, " are supported");
  if (source_unit_bits < 0 || static_cast<std::size_t>(source_unit_bits) > bits)
    base::throw_argument_error("a bit permutation of ", bits, " bits cannot have ", source_unit_bits,
                               " bits of the source's unit");
  std::vector<bool> seen(bits, false);
  for (const std::vector<int>* part : {&unit_, &position_})
    for (const int bit : *part) {
      if (bit < 0 || static_cast<std::size_t>(bit) >= bits || seen[static_cast<std::size_t>(bit)])
        base::throw_argument_error("bit ", bit, " is named twice or is not one of the bits 0 to ", bits - 1,
                                   "; name each of them once");
      seen[static_cast<std::size_t>(bit)] = true;
    }
}

int BitPermutation::source_position_bits() const {
  return static_cast<int>(unit_.size() + position_.size()) - source_unit_bits_;
}

BitPermutation BitPermutation::inverse() const {
  const std::size_t bits = unit_.size() + position_.size();
  std::vector<int> target_bits(bits);  // for each bit of the source, its bit in the target
  const auto record_bits = [&](const std::vector<int>& part, std::size_t lowest) {
    for (std::size_t i = 0; i < part.size(); ++i)
      target_bits[static_cast<std::size_t>(part[i])] = static_cast<int>(lowest + part.size() - 1 - i);
  };
  record_bits(position_, 0);
  record_bits(unit_, position_.size());
  std::reverse(target_bits.begin(), target_bits.end());
  const auto split = target_bits.begin() + source_unit_bits_;
  return {{target_bits.begin(), split}, {split, target_bits.end()}, static_cast<int>(unit_.size())};
}

BitPermutation BitPermutation::then(const BitPermutation& other) const {
  if (static_cast<int>(unit_.size()) != other.source_unit_bits() ||
      static_cast<int>(position_.size()) != other.source_position_bits())
    base::throw_argument_error("the first permutation ends in ", unit_.size(), " bits of a unit and ", position_.size(),
                               " of a position, but the second one starts from ", other.source_unit_bits(), " and ",
                               other.source_position_bits());
  std::vector<int> middle(unit_);  // most significant bit first
  middle.insert(middle.end(), position_.begin(), position_.end());
  std::reverse(middle.begin(), middle.end());
  const auto compose = [&](const std::vector<int>& part) {
    std::vector<int> result;
    for (const int bit : part) result.push_back(middle[static_cast<std::size_t>(bit)]);
    return result;
  };
  return {compose(other.unit_), compose(other.position_), source_unit_bits_};
}

UnitPosition BitPermutation::apply(const UnitPosition& from) const {
  check_number(from.position, source_position_bits(), "position");
  check_number(from.unit, source_unit_bits_, "unit");
  const std::int64_t source = from.unit << source_position_bits() | from.position;
  const auto gather = [&](const std::vector<int>& part) {
    std::int64_t number = 0;
    for (const int bit : part) number = number << 1 | (source >> bit & 1);
    return number;
  };
  return {gather(unit_), gather(position_)};
}

UnitPattern BitPermutation::trace(const UnitPattern& from) const {
  check_pattern(from.unit, source_unit_bits_, "unit");
  check_pattern(from.position, source_position_bits(), "position");
  const std::string source = from.unit + from.position;
  const auto gather = [&](const std::vector<int>& part) {
    std::string pattern;
    for (const int bit : part) pattern += source[source.size() - 1 - static_cast<std::size_t>(bit)];
    return pattern;
  };
  return {gather(unit_), gather(position_)};
}

std::int64_t BitPermutation::block() const {
  const auto max_bits = std::min(position_.size(), static_cast<std::size_t>(source_position_bits()));
  std::size_t unchanged_bits = 0;
  while (unchanged_bits < max_bits &&
         position_[position_.size() - 1 - unchanged_bits] == static_cast<int>(unchanged_bits))
    ++unchanged_bits;
  return std::int64_t{1} << unchanged_bits;
}

std::string to_string(const BitPermutation& permutation) {
  const int bits = static_cast<int>(permutation.unit().size() + permutation.position().size());
  const BitPermutation inverse = permutation.inverse();
  std::vector<int> target_bits(inverse.unit());  // most significant source bit first
  target_bits.insert(target_bits.end(), inverse.position().begin(), inverse.position().end());
  const int position_bits = static_cast<int>(permutation.position().size());
  std::string source_numbers, units, positions;
  for (int i = 0; i < bits; ++i) {
    const int source = bits - 1 - i;
    const bool is_in_unit = source >= permutation.source_position_bits();
    const std::string source_number = std::to_string(is_in_unit ? source - permutation.source_position_bits() : source);
    const int target = target_bits[static_cast<std::size_t>(i)];
    const std::string target_number = std::to_string(target >= position_bits ? target - position_bits : target);
    const std::string separator = i > 0 && source == permutation.source_position_bits() - 1 ? " |" : "";
    const auto append_column = [&](std::string& row, const std::string& value) {
      base::append_parts(row, separator, ' ',
                         base::aligned_right(value, std::max(source_number.size(), target_number.size())));
    };
    append_column(source_numbers, source_number);
    append_column(units, target >= position_bits ? target_number : ".");
    append_column(positions, target >= position_bits ? "." : target_number);
  }
  const char* heading = permutation.source_unit_bits() > 0 ? "unit | position" : "position";
  const auto line = [](const char* name, const std::string& row) { return base::aligned_left(name, 17) + row; };
  std::string out = line(heading, source_numbers);
  if (!permutation.unit().empty()) base::append_parts(out, '\n', line("to unit", units));
  base::append_parts(out, '\n', line("to position", positions));
  return out;
}

}  // namespace plait
