// The description of a step, and the offsets of its arrays in memory.

#include "pipe/step_description.hpp"

#include <algorithm>
#include <cerrno>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace plait::pipe {

const base::EncodingSource kOtherEnd{"a message of the other end of a pipe", "use the same Plait at both ends", EPROTO};

const Variable* StepDescription::find(const std::string& name) const {
  for (const Variable& variable : variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

Step StepDescription::to_step() const {
  Step step{number, attributes, {}};
  for (const Variable& variable : variables) step.variables.push_back(variable.name);
  return step;
}

std::string describe_array_type(const ArrayType& type) {
  if (type.element_bytes == 0) return "arrays of which each step says what they are";
  return base::text(shape_to_string(type.shape), ' ',
                    type.dtype.empty() ? base::text("elements of ", type.element_bytes, " bytes") : type.dtype);
}

std::vector<std::int64_t> Placement::ranks(const Layout& layout) const {
  if (process_ < 0) return layout.rank_numbers();
  if (!layout.has_rank(process_)) return {};
  return {process_};
}

std::int64_t Placement::bytes(const Layout& layout, std::int64_t rank, std::int64_t element_bytes) {
  constexpr std::int64_t kCacheLine = 64;
  const std::int64_t elements =
      layout.local_elements(rank) == 0 ? 0 : base::checked_product(layout.padded_shape(rank), "elements of a part");
  return (base::checked_multiply(elements, element_bytes, "bytes of a part") + kCacheLine - 1) / kCacheLine *
         kCacheLine;
}

void Placement::add(const Layout& layout, std::int64_t element_bytes) {
  Entry& entry = entries_.emplace_back();
  entry.ranks = ranks(layout);
  for (const std::int64_t rank : entry.ranks) {
    entry.begins.push_back(end_);
    end_ += bytes(layout, rank, element_bytes);
  }
}

std::int64_t Placement::offset(std::size_t variable, std::int64_t rank) const {
  const Entry& entry = entries_[variable];
  const auto found = std::ranges::lower_bound(entry.ranks, rank);
  return entry.begins[static_cast<std::size_t>(found - entry.ranks.begin())];
}

}  // namespace plait::pipe
