/// Drivers whose stores rank 0 finds or creates, and the other ranks open at the location that rank 0 broadcasts.
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
  std::unique_ptr<core::Source> open(Opening& opening) const override;
  /// Resolves a name to the file whose path is between the prefix and a `?`, with `%XX` decoded.
  ResolvedName locate(const std::string& name) const override;

  /// Checks that these ranks can open a store of that name together. The result is the same on every rank.
  /// errors  kArgument.
  virtual void check_ranks(const std::string& /*name*/, const transport::Transport& /*transport*/) const {}
  /// Opens an existing store. Not collective.
  /// errors  kArgument: the name is invalid, or its options differ from the existing store. kSystem: the store does not
  ///         exist, is not permitted, or is damaged.
  virtual store::OpenLocation find(const std::string& name, bool writable) const = 0;
  /// Opens a store at the location that another process has found, where it still has the store open, or has created.
  /// errors  kSystem; ESTALE: see expect_same_files().
  virtual std::unique_ptr<store::Store> open(const store::Location& location, bool writable) const = 0;
  /// Begins a new store, which gets its name when it is committed.
  /// errors  kArgument: the name is invalid; if it is `claimed`, another rank of this job writes it alone. kSystem: no
  ///         such folder or disk, no permission, a full disk, or an object other than a regular file in the way.
  ///         Nothing remains on the disk after an error.
  virtual std::unique_ptr<store::NewFile> create(const std::string& name,
                                                 const store::NewFileOptions& options) const = 0;

  /// Sends the content of a new store to its server, before it is committed. made: on rank 0; else nullptr. Collective.
  /// errors  kSystem, the same on every rank.
  virtual void send_new(collective::Collective& /*call*/, store::Store& /*store*/, store::NewFile* /*made*/) const {}

  /// Returns true if the name no longer refers to the store that was found as `opened` and is still open, regardless of
  /// the present working directory. By default it returns false, for stores whose names refer to the same store as long
  /// as they are open.
  /// errors  Those of find().
  virtual bool is_replaced(const std::string& /*name*/, const store::Location& /*opened*/) const { return false; }

  /// Returns true if the bytes of an ordinary file are the description of a store of this kind.  errors  kSystem.
  virtual bool recognizes(store::Store& /*file*/) const { return false; }
  /// Returns the meaning of such bytes for the error "NAME has 300 bytes that ...", such as "describe a striped file".
  virtual std::string_view content_description() const { return {}; }
  /// Returns the name by which such a file at `path` is opened, such as `stripe:PATH`.
  virtual std::string make_name(const std::string& path) const { return std::string(prefix()) + path; }
  /// Removes the files to which a temporary file of a killed process refers, such as component files, before that
  /// temporary file is removed. target: the path of the file that it would have replaced. Returns true if the temporary
  /// file may be removed.
  virtual bool release_leftover(const std::string& /*leftover*/, const std::string& /*target*/) const noexcept {
    return true;
  }
  /// Removes the files of a store that a new file has replaced. remove() is called after the replacement; if the
  /// replacement fails, only the destructor runs.
  class ReplacementCleanup {
   public:
    virtual ~ReplacementCleanup() = default;
    virtual void remove() noexcept = 0;
  };
  /// Returns the cleanup for the store that a new file is about to replace; nullptr if it has no further files.
  virtual std::unique_ptr<ReplacementCleanup> prepare_cleanup(const store::posix::Replacement& /*file*/) const {
    return nullptr;
  }
};

}  // namespace plait::driver
