/// What a step consists of, as the writer tells the readers.
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

/// Programs of a pipe.
extern const base::EncodingSource kOtherEnd;

/// One array of a step.
struct Variable {
  std::string name;
  ArrayType type;
  std::string layout;  ///< in which the writer's processes hold it, as a text
};

struct StepDescription {
  std::int64_t number = 0;
  int slot = 0;  ///< in the memory of each of the writer's processes
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

/// Bytes of the number and the slot, which differ from step to step, in front of the other fields.
inline constexpr std::size_t kPositionBytes = sizeof(StepDescription::number) + sizeof(StepDescription::slot);

/// `6000x6000 <f8`.
std::string words(const ArrayType& type);

/// Where the parts of a process lie in its memory for a step: variables behind each other, each with the local arrays
/// of the ranks that the process holds, ascending, every one at a multiple of 64 bytes.
class Placement {
 public:
  /// process: -1 for a process that holds all ranks.
  explicit Placement(std::int64_t process) : process_(process) {}
  /// Puts a variable behind those so far.  cost  O(ranks that the process holds).
  void add(const Layout& layout, std::int64_t element_bytes);
  /// Where the local array of a rank of variable number `variable` begins, and where all of them end.
  /// pre   The process holds the rank.  cost  O(log of the ranks that it holds).
  std::int64_t offset(std::size_t variable, std::int64_t rank) const;
  std::int64_t end() const { return end_; }

  /// What lies in front of the first one.
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
