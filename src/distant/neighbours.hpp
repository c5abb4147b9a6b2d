/// The files of other ranks of this node, which this process opens itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "distant/local_file.hpp"
#include "transport/transport.hpp"

namespace plait::distant {

/// Files by the ranks that own them.
using FilesOfRanks = std::map<int, std::shared_ptr<const LocalFile>>;

/// Sets one of this rank's marks (Gates::marks) to `number`, which shows the other ranks of the node that this rank
/// serves a file under that number.
void put_mark(transport::Transport& transport, std::int64_t number);
/// Removes the mark: accesses of other ranks that begin later fail.
void remove_mark(transport::Transport& transport, std::int64_t number);

/// Writes the location of this rank's file, which may be null, to the note that the other ranks of the node read.
void write_location(transport::Transport& transport, const LocalFile* own);
/// Opens the files of the other ranks of the node, which have written their locations and put the mark `number`.
/// Ranks whose files cannot be opened are left out.
FilesOfRanks open_neighbours(transport::Transport& transport, std::int64_t number);
/// Opens the file that a rank of this node serves under `number`.  Returns nullptr if it cannot be opened, or if its
/// owner has no mark for it, so that this process would not learn that the owner has closed it.
std::shared_ptr<const LocalFile> open_found(transport::Transport& transport, const FileLocation& location, int rank,
                                            std::int64_t number);

/// The descriptor of a file that was found by name, if this process has opened it.  A descriptor keeps the disk space
/// of a removed file, so it is dropped as soon as get() sees that the owner has closed the file.
/// threads  Any number at once.
class FoundFile {
 public:
  void set(std::shared_ptr<const LocalFile> file);
  /// Returns nullptr if there is no descriptor.
  std::shared_ptr<const LocalFile> get() const;

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const LocalFile> file_;  // guarded by mutex_
};

}  // namespace plait::distant
