#include "pipe/description.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace plait::pipe {

const Variable* StepDescription::find(const std::string& name) const {
  for (const Variable& one : variables)
    if (one.name == name) return &one;
  return nullptr;
}

Step StepDescription::shown() const {
  Step step{number, attributes, {}};
  for (const Variable& one : variables) step.variables.push_back(one.name);
  return step;
}

void put(FieldWriter& fields, const ArrayType& type) {
  fields.put(type.shape).put(type.dtype).put(type.element_bytes).put(static_cast<std::int64_t>(type.order));
}

ArrayType take_type(FieldReader& fields) {
  ArrayType type;
  type.shape = fields.numbers();
  type.dtype = fields.text();
  type.element_bytes = fields.number();
  type.order = fields.number() == 0 ? Order::kC : Order::kFortran;
  return type;
}

void put(FieldWriter& fields, const StepDescription& step) {
  fields.put(step.number).put(std::int64_t{step.slot}).put(static_cast<std::int64_t>(step.attributes.size()));
  for (const auto& [name, value] : step.attributes) {
    fields.put(name).put(static_cast<std::int64_t>(value.index()));
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      fields.put(*number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      std::int64_t bits = 0;
      std::memcpy(&bits, real, sizeof bits);
      fields.put(bits);
    } else {
      fields.put(std::get<std::string>(value));
    }
  }
  fields.put(static_cast<std::int64_t>(step.variables.size()));
  for (const Variable& one : step.variables) {
    fields.put(one.name).put(one.layout);
    put(fields, one.type);
  }
}

StepDescription take_step(FieldReader& fields) {
  StepDescription step;
  step.number = fields.number();
  step.slot = static_cast<int>(fields.number());
  for (std::int64_t left = fields.number(); left > 0; --left) {
    const std::string name = fields.text();
    switch (fields.number()) {
      case 0: step.attributes[name] = fields.number(); break;
      case 1: {
        const std::int64_t bits = fields.number();
        double real = 0;
        std::memcpy(&real, &bits, sizeof real);
        step.attributes[name] = real;
        break;
      }
      default: step.attributes[name] = fields.text(); break;
    }
  }
  for (std::int64_t left = fields.number(); left > 0; --left) {
    Variable& one = step.variables.emplace_back();
    one.name = fields.text();
    one.layout = fields.text();
    one.type = take_type(fields);
    if (one.type.element_bytes < 1)
      throw Error(ErrorKind::kSystem, base::text("elements cannot have ", one.type.element_bytes, " bytes"), EPROTO);
  }
  return step;
}

std::string words(const ArrayType& type) {
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
  constexpr std::int64_t kLine = 64;
  const std::int64_t elements =
      layout.local_elements(rank) == 0 ? 0 : base::checked_product(layout.padded_shape(rank), "elements of a part");
  return (base::checked_multiply(elements, element_bytes, "bytes of a part") + kLine - 1) / kLine * kLine;
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
