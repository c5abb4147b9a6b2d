/// An array that is open.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "container/content.hpp"
#include "container/text_access.hpp"
#include "plait/array_description.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container {

/// Changes of elements that take effect at the end, all at once.
class DeferredChanges {
 public:
  virtual ~DeferredChanges() = default;
  /// Returns true if the ranks that write need a shared counter. The result is the same on every rank.
  virtual bool needs_counter() const { return false; }
  /// Passes this rank's end of the counter, before the first write. alone: true if no other process writes.
  virtual void share(std::unique_ptr<transport::Counter> /*counter*/, bool /*alone*/) {}
  /// Makes the changes take effect. One rank calls it, after all ranks have written.
  /// errors  kSystem: no change has taken effect.
  virtual void commit() = 0;
};

/// Changes of the attributes of an array, in place.
class AttributeWriter {
 public:
  virtual ~AttributeWriter() = default;
  /// Checks that write() can succeed. One rank calls it, after all ranks have written and before any change of elements
  /// takes effect.
  /// errors  kSystem: the reason why write() would fail, as far as this can be known.
  virtual void prepare() = 0;
  /// Changes the attributes, which Format::attribute_rejection() permits. The rank that has called prepare() calls it.
  /// errors  kSystem.
  virtual void write(const AttributeChanges& changes) = 0;
};

/// An array that one rank has open. Formats that store arrays without encoding need no derived class.
class Dataset {
 public:
  /// store: the elements, decoded, at the offsets that `content` states.
  Dataset(Content content, std::shared_ptr<store::Store> store)
      : content_(std::move(content)), store_(std::move(store)) {}
  virtual ~Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const Content& content() const { return content_; }
  const std::shared_ptr<store::Store>& store() const { return store_; }

  /// Returns the data that Format::attach() needs on other ranks, such as an index: a few MiB at most.
  virtual std::string encoded() const { return {}; }
  /// Prepares the array for changes in place. One rank calls it, before encoded().
  /// errors  kArgument: the array cannot change in place. kSystem: another program changes it.
  virtual void prepare_changes() {}
  /// Returns the changes; nullptr if every write takes effect at once. The result is the same on every rank after
  /// prepare_changes().
  virtual DeferredChanges* deferred_changes() { return nullptr; }
  /// Returns the writer of attributes; nullptr if they do not change in place.
  virtual AttributeWriter* attribute_writer() { return nullptr; }
  /// Returns the texts that elements refer to; nullptr if the elements have a fixed size.
  virtual TextAccess* texts() { return nullptr; }

 private:
  Content content_;
  std::shared_ptr<store::Store> store_;
};

}  // namespace plait::container
