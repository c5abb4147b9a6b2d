/// Attributes of an open array, and their changes.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/function_ref.hpp"
#include "container/format.hpp"
#include "core/file/context.hpp"
#include "core/file/storage.hpp"
#include "plait/array_description.hpp"

namespace plait::core {

/// The attributes of the selected array.  Edits are visible at once, and are written to the file when it is closed.
class AttributeEdits {
 public:
  AttributeEdits(FileContext& context, const FileStorage& storage) : context_(context), storage_(storage) {}

  /// Begins with the attributes of an array that has been opened, in a file of `format`.
  void begin(const container::Format& format, const ArrayAttributes& attributes);
  /// Replaces the attributes by those of another array of a new file, which has no edits.
  void show(const ArrayAttributes& attributes) { attributes_ = attributes; }
  /// The attributes with all edits.
  const ArrayAttributes& current() const { return attributes_; }
  bool empty() const { return changes_.empty(); }

  /// Sets an attribute, or removes it if there is no value.  Collective.
  /// errors  kArgument: as of File::set_attribute() and File::remove_attribute().
  void edit(const std::string& name, const std::optional<ArrayAttribute>& value);

  /// Checks that write() can succeed.  One rank calls it, before any change of elements takes effect.
  void prepare() const;
  /// Writes the edits.  The rank that has called prepare() calls it, after changes of elements have taken effect.
  /// errors  kSystem: with a clause that states whether the elements are in the file.
  void write() const;

 private:
  /// Checks that the attribute can be set to a value, or removed if `value` is nullptr.
  /// errors  kArgument: this File cannot edit the attribute.
  void check(const std::string& name, const ArrayAttribute* value) const;
  /// Describes an edit; the descriptions of different edits differ.
  std::string describe(const std::string& name, const std::optional<ArrayAttribute>& value) const;
  /// Calls `body` with the writer if there are edits, and adds to its error whether the elements are in the file.
  /// committed: true if changes of elements have taken effect.
  void call_writer(bool committed, base::FunctionRef<void(container::AttributeWriter&)> body) const;

  FileContext& context_;
  const FileStorage& storage_;
  const container::Format* format_ = nullptr;  // null for pipes
  ArrayAttributes attributes_;
  AttributeChanges changes_;  // the same on every rank
};

}  // namespace plait::core
