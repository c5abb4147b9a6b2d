/// Kinds of stores: how one is opened, or made, by its name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collective/collective.hpp"
#include "core/file/source.hpp"
#include "driver/located.hpp"
#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "store/new_file.hpp"

namespace plait::driver {

/// How what a store holds is known.
enum class Contents : std::uint8_t {
  kByName,  ///< by the suffix of its name, which stands for a format
  kRaw,     ///< not at all: raw elements
  kHeader,  ///< by a header as of .npy, unless it was made without a dtype or for several arrays
  kNone     ///< it has no bytes: its arrays come and go
};

/// One rank's view of a File that is being opened: a driver asks it what a new store is to hold, and lets it look at
/// an existing one.
class Opening {
 public:
  virtual ~Opening() = default;
  virtual const std::string& name() const = 0;
  virtual Mode mode() const = 0;
  virtual const Comm& comm() const = 0;
  /// The call that opens it.
  virtual collective::Collective& call() const = 0;
  /// What a new store is to be.  The bytes of its head stay while this does.  errors  kArgument.
  virtual store::NewFileOptions make() = 0;
  /// Looks at what an existing one holds.  errors  kArgument: not what the caller says.  kSystem: damaged.
  virtual void inspect(const std::shared_ptr<store::Store>& store) = 0;
  /// What the caller says of it.
  virtual const FileOptions& options() const = 0;
  /// Encodes the result of make() or inspect() for the other ranks.
  virtual std::string encode() const = 0;
  /// Takes the result that rank 0 has encoded, with this rank's end of the store.
  virtual void adopt(const std::string& encoded, const core::Source& source) = 0;
  /// Takes what all ranks know of a source without a store.
  virtual void adopt(const ArrayType& type) = 0;
};

/// One for each kind.  Without state: any number of threads may use it.
class Driver {
 public:
  virtual ~Driver() = default;
  /// What names of the kind begin with, such as `stripe:`; empty: all names with no prefix.
  virtual std::string_view prefix() const = 0;
  virtual Contents contents() const = 0;
  /// Opens the store on every rank.  Collective.  errors  The same on every rank.
  virtual std::unique_ptr<core::Source> open(Opening& opening) const = 0;
  /// Returns where a name of the kind leads, for callers that show a store or distinguish two names.  Nothing need be
  /// there, and a damaged store has no components.  Not collective.
  /// The default leads to something without files, identified by its name before a `?`.
  /// errors  kArgument: a name that cannot be.
  virtual Located locate(const std::string& name) const;
  /// The files beside `path`, which is a real one, that hold or describe the bytes of a store of the kind there.
  /// Not collective.  By default none.
  virtual std::vector<std::string> files_beside(const std::string& /*path*/) const { return {}; }
};

}  // namespace plait::driver
