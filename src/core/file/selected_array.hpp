/// The array of a file that reads and writes refer to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "container/content.hpp"
#include "core/file/channel.hpp"
#include "plait/file.hpp"
#include "plan/access/access_plan.hpp"
#include "store/store.hpp"

namespace plait::core {

/// The array that accesses refer to: its type, where it is in the file, and how accesses to it are planned.
struct SelectedArray {
  ArrayType type;
  std::int64_t data_offset = 0;
  Extents chunk;  ///< the shape of the chunks that the array is stored in; empty: none
  Extents shard;  ///< the shape of the shards that the chunks are stored in; empty: none
  plan::AccessOptions options;
  bool several = false;             ///< true for a file of several raw arrays; `type` and `data_offset` describe one
  std::int64_t opening_memory = 0;  ///< `memory` that File::open() was given, the default of File::select()
  bool whole_chunks = false;        ///< true if reading a part of a chunk costs as much as reading all of it

  /// Returns the section that an access to a region touches.  errors  kArgument: the region does not fit the array.
  plan::Section section(const Region& region) const { return {type.shape, type.order, region, chunk, shard}; }
};

/// The selection of one array among those of a file: a raw file may contain several, one after another, a new file
/// several with names, and each step of a pipe has its own.
class ArraySelection {
 public:
  /// path: The path of the file, for errors.
  explicit ArraySelection(const std::string& path) : path_(path) {}

  const SelectedArray& array() const { return array_; }
  /// The name of the array.
  const std::string& variable() const { return variable_; }
  /// The offset of the first byte after the array.
  std::int64_t end_offset() const;

  /// Selects the array that has been opened in `store`.
  void set_array(SelectedArray array, const store::Store& store);
  /// Selects an array without a store.  several: true if the type differs from step to step.
  void set_type(const ArrayType& type, bool several);
  /// Sets the arrays of a new file that will contain several arrays with names.
  void set_members(std::vector<container::Member> members) { members_ = std::move(members); }
  bool has_members() const { return !members_.empty(); }

  /// Selects an array, as File::select() does.  store: nullptr for a pipe, where only the type counts.
  void select(const ArrayType& type, std::int64_t offset, std::int64_t memory, const store::Store* store);
  /// Selects an array of a new file, the first one if `name` is empty, and returns its content.
  /// errors  kArgument: no array has the name, or another type than `type`.
  const container::Content& select_member(const std::string& name, const std::optional<ArrayType>& type,
                                          const store::Store& store);
  /// Selects an array of a step.
  void select_variable(const std::string& name, const ArrayType& type);
  /// Replaces the shape of the array.
  void update_shape(const Extents& shape) { array_.type.shape = shape; }
  /// Replaces the type of the array: another step has begun.
  void update_type(const ArrayType& type) { array_.type = type; }

 private:
  const std::string& path_;
  SelectedArray array_;
  std::string variable_{kOneVariable};
  std::vector<container::Member> members_;
};

}  // namespace plait::core
