/// The time steps of a File.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collective/collective.hpp"
#include "core/file/context.hpp"
#include "core/file/selected_array.hpp"
#include "core/file/storage.hpp"
#include "plait/file.hpp"
#include "plait/step.hpp"

namespace plait::core {

/// The position of a File among the time steps of its pipe.
///
/// A program begins and ends steps itself (begin(), end()), or each access is a step of its own, which the access
/// enters and leaves.  A file that is not a pipe has one step, which can be read once and written any number of times.
class TimeSteps {
 public:
  TimeSteps(FileContext& context, FileStorage& storage, ArraySelection& selection)
      : context_(context), storage_(storage), selection_(selection) {}

  /// The step that began last.
  const Step& current() const { return step_; }
  bool is_inside() const { return is_inside_; }
  /// Sets the type of the array that a pipe has before its first step.
  void set_type(const ArrayType& type) { known_types_[kOneVariable] = type; }

  /// Implements File::begin_step() and File::end_step().  Collective.
  bool begin(const Attributes& attributes);
  void end();
  /// Enters the next step; returns false if no more steps will come.  Part of a collective call.
  bool enter(collective::Collective& call, const Attributes& attributes);
  /// Passes the step on to the reader, or discards it if a write has failed.  Part of a collective call.
  /// errors  kSystem: the step was discarded.
  void leave(collective::Collective& call);
  /// Makes leave() discard the step, because a write has failed.
  void mark_incomplete() { is_incomplete_ = true; }

  /// Implements File::select_variable() for a pipe.
  void select_variable(const std::string& name, const std::optional<ArrayType>& type);

 private:
  /// Returns the type of an array that a reader selects.
  ArrayType find_type(const std::string& name) const;
  /// Returns the type of an array that a writer selects.  The first selection needs a `type`.
  const ArrayType& define_type(const std::string& name, const std::optional<ArrayType>& type);

  FileContext& context_;
  FileStorage& storage_;
  ArraySelection& selection_;
  Step step_;
  bool is_inside_ = false;                        // a step that the program has begun
  bool is_incomplete_ = false;                    // a write to the step has failed
  bool has_ended_ = false;                        // a reader has read the last step
  std::int64_t next_number_ = 0;                  // number of the next step of a file that is not a pipe
  std::map<std::string, ArrayType> known_types_;  // of arrays by name, also outside of steps
};

}  // namespace plait::core
