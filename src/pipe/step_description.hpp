/// The description of a step that a writer sends to its readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/encoding.hpp"
#include "plait/file.hpp"
#include "plait/layout.hpp"
#include "plait/step.hpp"

namespace plait::pipe {

/// Limits of the programs of a pipe.
extern const base::EncodingSource kOtherEnd;

/// One array of a step.
struct Variable {
  std::string name;
  ArrayType type;
  std::string layout;  ///< of the writer's processes, as text
};

struct StepDescription {
  std::int64_t number = 0;
  int slot = 0;  ///< in the memory of each process of the writer
  Attributes attributes;
  std::vector<Variable> variables;

  const Variable* find(const std::string& name) const;
  Step shown() const;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Variable>& variable) {
  codec(variable.name, variable.layout, variable.type);
  if constexpr (Codec::kDecodes)
    if (variable.type.element_bytes < 1) codec.fail("an element of an array has no bytes");
}

template <class Codec>
void fields(Codec& codec, base::Record<Codec, StepDescription>& step) {
  codec(step.number, step.slot, step.attributes, step.variables);
}

/// Bytes of number and slot, which precede the other fields and differ in every step.
inline constexpr std::size_t kPositionBytes = sizeof(StepDescription::number) + sizeof(StepDescription::slot);

/// Formats a type, as in `6000x6000 <f8`.
std::string describe_array_type(const ArrayType& type);

/// The offsets of local arrays in the memory that a process has for a step.  Variables follow each other; each has the
/// local arrays of the ranks of the process, ascending, at multiples of 64 bytes.
class Placement {
 public:
  /// process: -1 if it holds all ranks.
  explicit Placement(std::int64_t process) : process_(process) {}
  /// Appends a variable.  cost  O(ranks that the process holds).
  void add(const Layout& layout, std::int64_t element_bytes);
  /// The offset of the local array of a rank of variable number `variable`, and the end of all arrays.
  /// pre   The process holds the rank.  cost  O(log of the ranks that it holds).
  std::int64_t offset(std::size_t variable, std::int64_t rank) const;
  std::int64_t end() const { return end_; }

  /// The header before the first array.
  static constexpr std::int64_t kHead = 4096;

 private:
  struct Entry {
    std::vector<std::int64_t> ranks;  // ascending
    std::vector<std::int64_t> begins;
  };
  std::vector<std::int64_t> ranks(const Layout& layout) const;
  static std::int64_t bytes(const Layout& layout, std::int64_t rank, std::int64_t element_bytes);

  std::int64_t process_;
  std::int64_t end_ = kHead;
  std::vector<Entry> entries_;
};

}  // namespace plait::pipe
