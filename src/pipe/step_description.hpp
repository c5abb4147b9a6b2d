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

/// The name of the other program as the source of encoded messages, for the errors of decoders.
extern const base::EncodingSource kOtherEnd;

/// One array of a step.
struct Variable {
  std::string name;
  ArrayType type;
  std::string layout;  ///< the writer's layout, as text
};

/// A step of a pipe, as the writer announces it.
struct StepDescription {
  std::int64_t number = 0;
  int slot = 0;  ///< number of the slot that holds the step in each process of the writer
  Attributes attributes;
  std::vector<Variable> variables;

  /// Returns the variable of that name; nullptr if there is none.
  const Variable* find(const std::string& name) const;
  /// Returns the public description of the step.
  Step to_step() const;
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

/// Number of encoded bytes of a step's number and slot.  They come first and differ in every step; the other bytes
/// often equal those of the former step.
inline constexpr std::size_t kPositionBytes = sizeof(StepDescription::number) + sizeof(StepDescription::slot);

/// Formats a type, as in `6000x6000 <f8`.
std::string describe_array_type(const ArrayType& type);

/// The offsets of local arrays in the memory of a step in one process.  The arrays of the first variable come first,
/// then those of the second, and so on; within a variable they are in the order of ranks.  Each begins at a multiple of
/// 64 bytes.
class Placement {
 public:
  /// process: number of the process if it holds only the rank of that number; -1 if a single process holds all ranks.
  explicit Placement(std::int64_t process) : process_(process) {}
  /// Appends a variable.  cost  O(ranks that the process holds).
  void add(const Layout& layout, std::int64_t element_bytes);
  /// Returns the offset of the local array of a rank in variable number `variable`.
  /// pre   The process holds the rank.  cost  O(log of the ranks that it holds).
  std::int64_t offset(std::size_t variable, std::int64_t rank) const;
  /// Returns the end of the last array.
  std::int64_t end() const { return end_; }

  /// The header before the first array.
  static constexpr std::int64_t kHeaderBytes = 4096;

 private:
  /// The local arrays of one variable.
  struct Entry {
    std::vector<std::int64_t> ranks;   // ascending
    std::vector<std::int64_t> begins;  // the offset of the array of each of these ranks
  };
  /// Returns the ranks of a layout that the process holds.
  std::vector<std::int64_t> ranks(const Layout& layout) const;
  /// Returns the bytes of a rank's local array, rounded up to a cache line.
  static std::int64_t bytes(const Layout& layout, std::int64_t rank, std::int64_t element_bytes);

  std::int64_t process_;
  std::int64_t end_ = kHeaderBytes;
  std::vector<Entry> entries_;
};

}  // namespace plait::pipe
