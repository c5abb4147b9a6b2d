/// An open array: its description, the store of its elements, and its changes in place.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/content.hpp"
#include "plait/array_description.hpp"
#include "plait/text_block.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container {

/// Changes of elements that take effect together, when commit() is called.
class DeferredChanges {
 public:
  virtual ~DeferredChanges() = default;
  /// Returns true if the ranks that write must take distinct numbers, such as offsets at the end of the file, from a
  /// shared counter. The result is the same on every rank.
  virtual bool needs_counter() const { return false; }
  /// Returns true if commit() makes the file refer to the written elements, so that each rank must call Store::sync()
  /// before.
  virtual bool follows_elements() const { return false; }
  /// Passes this rank's access to the shared counter, before the first write. alone: true if no other process writes.
  virtual void share(std::unique_ptr<transport::Counter> /*counter*/, bool /*alone*/) {}
  /// Makes the changes take effect. One rank calls it, after all ranks have written.
  /// errors  kSystem: no change has taken effect.
  virtual void commit() = 0;
};

/// Changes of the attributes of an array, in place.
class AttributeWriter {
 public:
  virtual ~AttributeWriter() = default;
  /// Checks that write() can succeed. One rank calls this function, after all ranks have written and before any change
  /// of elements takes effect.
  /// errors  kSystem: the reason why write() would fail, as far as this can be known.
  virtual void prepare() = 0;
  /// Changes the attributes. Format::attribute_rejection() must permit all of them. Only the rank that has called
  /// prepare() calls this function.
  /// errors  kSystem.
  virtual void write(const AttributeChanges& changes) = 0;
};

/// The texts of an array whose elements have no fixed size. Its store has a reference of ArrayType::kTextBytes bytes
/// for each element, which only the format can interpret. Ranks read, exchange and write references in any layout, like
/// elements of other types, and each rank converts the references of its own part to texts or back. A reference whose
/// bytes are all zero stands for the empty text.
/// threads  One at a time.
class TextAccess {
 public:
  virtual ~TextAccess() = default;
  /// Returns the texts that elements refer to, in UTF-8 or any other encoding of the file.
  /// errors  kSystem: the file is damaged.
  virtual TextBlock read_texts(std::span<const std::byte> elements) = 0;
  /// Stores texts, and returns the elements that refer to them.  They are valid until the next call.
  /// errors  kArgument: the format cannot store a text, or the file is not new.  kSystem.
  virtual std::vector<std::byte> add_texts(const TextBlock& texts) = 0;
  /// Returns true if the elements that add_texts() returns on one rank are valid on all ranks.  Otherwise every rank
  /// must add the texts of all ranks.
  virtual bool shares_elements() const = 0;
};

class Dataset;

/// Changes of the shape of an array, in place.
///
/// A larger shape takes effect at DeferredChanges::commit(), so that readers see the former array until all elements
/// are in the file. A smaller shape takes effect immediately.
/// Example: an array of 10 elements is extended to 12. with_shape({12}) returns an array of 12 elements for the
/// accesses of the File, the ranks write elements 10 and 11, and commit() changes the 10 in the file to 12.
class ShapeChanges {
 public:
  virtual ~ShapeChanges() = default;
  /// Locks the shape against changes by other programs until the dataset is destroyed. One rank calls this function
  /// after it has opened an existing array.
  /// errors  kArgument: the shape cannot change.  kSystem, EBUSY: another program is changing it.
  virtual void begin() = 0;
  /// Clears elements outside of the present shape, which a killed program may have left in the file, so that they read
  /// as the fill value after the array has been extended. One rank calls this function.  errors  kSystem.
  virtual void clear_outside() = 0;
  /// Reduces the array in the file to `shape`, of which no extent is larger than the present one. One rank calls this
  /// function.
  /// errors  kSystem: the array has the former shape.
  virtual void reduce(const Extents& shape) = 0;
  /// Returns the array with another shape. Every rank calls this function, between accesses.
  /// errors  kArgument: the shape is too large.
  virtual std::unique_ptr<Dataset> with_shape(const Extents& shape) = 0;
};

/// An array that is open on one rank. Formats that store arrays without encoding need no derived class.
class Dataset {
 public:
  /// store: gives access to the decoded elements, at the offsets that `content` states.
  Dataset(Content content, std::shared_ptr<store::Store> store)
      : content_(std::move(content)), store_(std::move(store)) {}
  virtual ~Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const Content& content() const { return content_; }
  const std::shared_ptr<store::Store>& store() const { return store_; }

  /// Returns the data, such as an index, from which Format::attach() opens the array on other ranks: a few MiB at most.
  virtual std::string encoded() const { return {}; }
  /// Prepares the array for changes in place. One rank calls this function, before encoded().
  /// errors  kArgument: the array cannot change in place. kSystem: another program changes it.
  virtual void prepare_changes() {}
  /// Returns the object by which changes take effect together; nullptr if every write takes effect at once. After
  /// prepare_changes() the result is the same on every rank.
  virtual DeferredChanges* deferred_changes() { return nullptr; }
  /// Returns the object that changes attributes; nullptr if attributes cannot change in place.
  virtual AttributeWriter* attribute_writer() { return nullptr; }
  /// Returns the texts that elements refer to; nullptr if the elements have a fixed size.
  TextAccess* texts() const { return texts_.get(); }
  /// Returns the object that changes the shape; nullptr if the shape cannot change in place.
  virtual ShapeChanges* shape_changes() { return nullptr; }

 protected:
  /// Replaces the content and the store. Must be called before the dataset is used.
  void replace(Content content, std::shared_ptr<store::Store> store) {
    content_ = std::move(content);
    store_ = std::move(store);
  }
  void set_texts(std::shared_ptr<TextAccess> texts) { texts_ = std::move(texts); }

 private:
  Content content_;
  std::shared_ptr<store::Store> store_;
  std::shared_ptr<TextAccess> texts_;
};

}  // namespace plait::container
