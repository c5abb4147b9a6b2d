/// What array files hold, and how they say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "plait/file.hpp"
#include "store/store.hpp"

namespace plait::container {

/// An array and where it lies: from an offset on, as a whole or chunk by chunk.
struct Content {
  ArrayType type;
  std::int64_t data_offset = 0;
  /// The shape of the chunks, which lie as plan/access/chunks.hpp says; empty: there are none.
  Extents chunk{};
  /// Of the whole file.  errors  kArgument: more than 2^63 - 1.
  std::int64_t bytes() const;
};

/// What a new file will hold, and the bytes in front of the array.
struct NewContent : Content {
  std::vector<std::byte> head;
};

/// A format of files with arrays.  Without state: any number of threads may use it.
class Container {
 public:
  virtual ~Container() = default;
  /// Whether files of it say what they hold; what the caller says is compared with that then.
  virtual bool tells() const = 0;
  /// What names of its files end with, such as `.npy`; empty: any name.
  virtual std::string_view suffix() const = 0;
  /// What a file of it is, in words.
  virtual std::string kind() const { return base::text("a ", suffix(), " file"); }
  /// Whether a file that begins so is one.  `front` has kFrontBytes, or all that there are.
  virtual bool begins(std::span<const std::byte> front) const = 0;
  /// The bytes that those of `store` stand for where they are coded, as a store; else `store` itself.  One rank calls
  /// it before inspect(), with nothing in `told`; every other one with what tell() said there.
  /// errors  kArgument: the name says that something else is coded.  kSystem: damaged.
  virtual std::shared_ptr<store::Store> view(std::shared_ptr<store::Store> store, std::string_view /*told*/) const {
    return store;
  }
  /// What the first view() has found out that others need not, such as an index; a text of a few MiB at most.
  virtual std::string tell(const store::Store& /*view*/) const { return {}; }
  /// Looks at what view() gave.
  /// errors  kArgument: `options` lacks what the file does not tell, or says otherwise.  kSystem: damaged.
  virtual Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const = 0;
  /// errors  kArgument: options that are missing or make no sense, or a format that is only read.
  virtual NewContent create(const std::string& path, const FileOptions& options) const = 0;
  /// errors  kArgument: files of this format are not written in place.
  virtual void check_writable(const std::string& /*path*/) const {}
};

inline constexpr std::size_t kFrontBytes = 32;

}  // namespace plait::container
