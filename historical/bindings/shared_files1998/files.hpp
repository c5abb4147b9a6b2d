/// The shared files of this process, by their handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "plait/comm.hpp"
#include "plait/shared_file.hpp"

namespace plait::ga {

/// A shared file of the table of handles, and what this process may do with it.
struct SharedEntry {
  std::string path;
  Comm comm;
  std::optional<SharedFile> file;
  std::atomic<bool> open{true};
  std::atomic<bool> writable{true};
};

/// The arguments of SF_Create and SF_Create_suffix. The name of the file ends with `suffix` if it has a value, and else
/// with the slot, which is the handle plus 3000.
struct CreateArguments {
  const char* name = nullptr;
  double hard_limit = 0;
  double soft_limit = 0;
  double request = 0;
  std::optional<std::int64_t> suffix;
};

/// Makes a file and returns its handle. Collective.
/// errors  The same on every rank.
int create(const CreateArguments& arguments);
/// Deletes a file. Collective.
/// errors  The same on every rank, after which the handle is invalid. kArgument: an unknown handle, or another file
/// than on other ranks; nothing has changed then.
void destroy(std::int64_t handle);

/// errors  kArgument: an unknown handle.
std::shared_ptr<SharedEntry> find_file(std::int64_t handle);
/// Returns the file for an access.
/// errors  kArgument: an unknown handle, or a file that is closed.
std::shared_ptr<SharedEntry> find_open_file(std::int64_t handle);

}  // namespace plait::ga
