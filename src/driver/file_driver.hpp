/// Stores that one process finds or makes, and the others open by what it broadcasts.
#pragma once

#include <memory>
#include <string>

#include "driver/driver.hpp"

namespace plait::store::posix {
class Replacement;
}

namespace plait::driver {

class FileDriver : public Driver {
 public:
  std::unique_ptr<core::Source> open(Opening& opening) const final;
  /// The default leads to the file whose path is between the prefix and a `?`, with `%XX` decoded.
  Located locate(const std::string& name) const override;

  /// Checks whether these ranks can open a store of that name together.  The same on every rank.
  /// errors  kArgument.
  virtual void check_ranks(const std::string& /*name*/, const transport::Transport& /*transport*/) const {}
  /// Opens an existing one.  Not collective.
  /// errors  kArgument: a name that cannot be, or that says otherwise than what is there.  kSystem: it is not there,
  ///         not permitted, or damaged.
  virtual store::Found find(const std::string& name, bool writable) const = 0;
  /// Opens what another process has found and has open, or has made.  errors  kSystem; ESTALE: see expect_same_files().
  virtual std::unique_ptr<store::Store> open(const store::Location& location, bool writable) const = 0;
  /// Begins a new one.
  /// errors  kArgument: a name that cannot be.  kSystem: no such folder or disk, no permission, a full disk, something
  ///         other than a regular file in the way; nothing is left behind.  Where the name is `claimed`, also
  ///         kArgument: another rank of this job writes it alone.
  virtual std::unique_ptr<store::NewFile> create(const std::string& name,
                                                 const store::NewFileOptions& options) const = 0;

  /// Whether one that was found as `opened`, and is still open, is no longer what its name stood for then, whatever the
  /// working directory is by now.  By default never: for stores whose names stand for the same as long as they are open.
  /// errors  As find().
  virtual bool is_replaced(const std::string& /*name*/, const store::Location& /*opened*/) const { return false; }

  /// Whether an ordinary file's bytes are this kind's own, which only stand for a store.  errors  kSystem.
  virtual bool recognizes(store::Store& /*file*/) const { return false; }
  /// What such bytes do, in words that follow "bytes that".
  virtual std::string_view stands_for() const { return {}; }
  /// The name that such a file at `path` is opened by.
  virtual std::string name_of(const std::string& path) const { return std::string(prefix()) + path; }
  /// Called with the path of a temporary file that a killed process left behind, before that is removed, and with the
  /// path of the file that is to be replaced.  Returns whether it may be removed.
  virtual bool clear(const std::string& /*left_behind*/, const std::string& /*target*/) const noexcept { return true; }
  /// What remains to be removed once `file` has replaced one of this kind: called when it has, destroyed in any case.
  class Replaced {
   public:
    virtual ~Replaced() = default;
    virtual void remove() noexcept = 0;
  };
  virtual std::unique_ptr<Replaced> replacing(const store::posix::Replacement& /*file*/) const { return nullptr; }
};

}  // namespace plait::driver
