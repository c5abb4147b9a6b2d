/// The interface of drivers: how a kind of store is opened or created by its name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collective/collective.hpp"
#include "core/file/source.hpp"
#include "driver/resolved_name.hpp"
#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "store/new_file.hpp"

namespace plait::driver {

/// States how the format of a store's content is determined.
enum class Contents : std::uint8_t {
  kByName,  ///< by the suffix of its name, which selects a format
  kRaw,     ///< it has no format: raw elements
  kHeader,  ///< by a header as in .npy, unless the store was created without a dtype or for several arrays
  kNone     ///< there are no stored bytes, as in a pipe
};

/// One rank's view of a File that is being opened. On rank 0 a driver calls make() to get the description of a new
/// store, or inspect() to have an existing store examined. It broadcasts the result of encode(), and every rank then
/// calls adopt() with it.
class Opening {
 public:
  virtual ~Opening() = default;
  virtual const std::string& name() const = 0;
  virtual Mode mode() const = 0;
  virtual const Comm& comm() const = 0;
  /// Returns the collective call that opens the File.
  virtual collective::Collective& call() const = 0;
  /// Describes a new store: its size and first bytes. The bytes are valid as long as this object exists.
  /// errors  kArgument.
  virtual store::NewFileOptions make() = 0;
  /// Inspects the content of an existing store.
  /// errors  kArgument: it differs from the caller's description. kSystem: it is damaged.
  virtual void inspect(const std::shared_ptr<store::Store>& store) = 0;
  /// Returns the caller's description.
  virtual const FileOptions& options() const = 0;
  /// Encodes the result of make() or inspect() for the other ranks.
  virtual std::string encode() const = 0;
  /// Decodes the result of rank 0, and opens the array in `source`, which is this rank's end of the store.
  virtual void adopt(const std::string& encoded, const core::Source& source) = 0;
  /// Sets the type of the array of a source without a store. Every rank passes the same type.
  virtual void adopt(const ArrayType& type) = 0;
};

/// A driver for one kind of store. It has no state, so any number of threads may use it.
class Driver {
 public:
  virtual ~Driver() = default;
  /// Returns the prefix of names of this kind, such as `stripe:`; empty for names without a prefix.
  virtual std::string_view prefix() const = 0;
  /// Returns how the format of the content is determined.
  virtual Contents contents() const = 0;
  /// Opens the store on every rank.  Collective.  errors  The same on every rank.
  virtual std::unique_ptr<core::Source> open(Opening& opening) const = 0;
  /// Resolves a name, for callers that show a store or distinguish two names. The store need not exist; a damaged store
  /// has no components. Not collective. The default is a store without files, identified by its name before a `?`.
  /// errors  kArgument: the name is invalid.
  virtual ResolvedName locate(const std::string& name) const;
  /// Returns the other files that hold or describe the bytes of a store of this kind at `path`, which is a real path.
  /// Not collective. By default there are none.
  virtual std::vector<std::string> sibling_files(const std::string& /*path*/) const { return {}; }
};

}  // namespace plait::driver
