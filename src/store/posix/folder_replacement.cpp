// Replacing a folder by a complete new one.
//
// Problem: rename() replaces a folder only if it is empty. If the old folder is renamed first and the new one after it,
// there is no folder of that name for a moment.
//
// Idea: renameat2() with RENAME_EXCHANGE swaps the two names in one step. The old folder then has the temporary name
// and is removed. If the file system does not support it, swap() uses two renames, and moves the old folder back if the
// second one fails.
// Example: `a.zarr` exists. The new folder is `.a.zarr.plait-HOST-123-0`. After the exchange that name belongs to the
// old folder. If the process is killed before it removes the old folder, the next process on this host finds the name,
// determines that process 123 has ended, and removes the folder.

#include "store/posix/folder_replacement.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/errors.hpp"
#include "base/files/folder.hpp"
#include "base/text.hpp"
#include "store/posix/replacement.hpp"
#include "store/posix/temporary.hpp"
#include "store/posix/writer.hpp"

namespace plait::store::posix {

namespace fs = std::filesystem;

namespace {

/// Returns a new temporary name of this process, in the form that remove_stale() recognizes.
std::string own_name(const std::string& prefix) {
  static std::atomic<int> counter{0};
  return base::text(prefix, ::getpid(), '-', counter++);
}

}  // namespace

FolderReplacement::FolderReplacement(const std::string& target, const std::string& sibling, std::string_view array,
                                     const NewFileOptions& options)
    : target_(follow_links(target)), keeps_unfinished_(options.keeps_unfinished), durable_(options.durable) {
  struct stat old{};
  existed_ = ::lstat(target_.c_str(), &old) == 0;
  const fs::path sibling_target = follow_links(sibling);
  const fs::path folder = sibling_target.parent_path();
  if (existed_) check_sticky(fs::path(target_).parent_path(), old.st_uid, target);
  const std::string prefix = temporary_prefix(sibling_target, folder);
  remove_stale(folder, prefix, [](const std::string& leftover) {
    std::error_code ignored;
    fs::remove_all(leftover, ignored);
  });
  if (keeps_unfinished_) {
    temporary_ = (folder / unfinished_name(sibling_path(sibling_target.string(), array), folder)).string();
    folder_ = lock_unfinished(temporary_, /*is_folder=*/true, target, continued_);
    if (!options.continues) clear();
  }
  prefix_ = (folder / prefix).string();
  while (!keeps_unfinished_) {
    temporary_ = own_name(prefix_);
    if (::mkdir(temporary_.c_str(), 0777) == 0) break;
    if (errno != EEXIST) throw system_error(base::text("make the folder of ", target), errno);
  }
  is_pending_ = true;
  try {
    if (!keeps_unfinished_) folder_ = open_file(temporary_, O_RDONLY | O_DIRECTORY, 0, target);
    (void)lock_at_once(folder_.number(), target);
    constexpr mode_t kPermissions = 07777;
    if (existed_ && S_ISDIR(old.st_mode)) ::fchmod(folder_.number(), old.st_mode & kPermissions);
    if (options.claimed) claim(folder_.number(), temporary_, without_host(prefix), target_, target);
  } catch (...) {
    discard();
    throw;
  }
}

void FolderReplacement::exchange() {
  if (!keeps_unfinished_) return swap();
  // Rename the unfinished folder first: after the exchange its name belongs to the old folder, and a later program must
  // not take that for unfinished data.
  const std::string unfinished = temporary_;
  std::string free_name = own_name(prefix_);
  while (!rename_to_free(unfinished, free_name)) free_name = own_name(prefix_);
  temporary_ = free_name;
  try {
    swap();
  } catch (...) {
    if (::rename(free_name.c_str(), unfinished.c_str()) == 0) temporary_ = unfinished;
    throw;
  }
}

void FolderReplacement::swap() {
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return;
  const std::string aside = temporary_ + "-old";
  if (::rename(target_.c_str(), aside.c_str()) != 0) throw system_error(base::text("replace ", target_), errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int code = errno;
    ::rename(aside.c_str(), target_.c_str());
    throw system_error(base::text("replace ", target_), code);
  }
  temporary_ = aside;
}

void FolderReplacement::commit(bool replaces) {
  owner_.check(target_);
  const std::string parent = fs::path(target_).parent_path().string();
  if (existed_ && replaces) {
    exchange();
    if (durable_) sync_folder(parent);
    return remove();  // the old folder
  }
  const bool is_renamed = !existed_ && rename_to_free(temporary_, target_);
  is_pending_ = false;
  folder_.close();
  if (is_renamed) {
    if (durable_) sync_folder(parent);
    return;
  }
  std::string sibling;
  for (int number = 1;; ++number) {
    sibling = base::text(target_, ".kept-", number);
    if (rename_to_free(temporary_, sibling)) break;
  }
  base::throw_system_error(
      EEXIST, "cannot finish ", target_,
      ": a folder with other data has appeared there since it was opened; that one is unchanged, and "
      "the new data is in ",
      sibling, "; move it, or what is in it, to where you want it");
}

void FolderReplacement::discard() noexcept {
  if (!keeps_unfinished_) return remove();
  is_pending_ = false;
  folder_.close();
}

void FolderReplacement::remove() noexcept {
  if (is_pending_ && owner_.here()) {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }
  is_pending_ = false;
  folder_.close();
}

void FolderReplacement::clear() {
  continued_ = false;
  std::error_code error;
  for (const std::string& name : base::names_in(temporary_, error))
    if (!error) fs::remove_all(fs::path(temporary_) / name, error);
  if (error) throw system_error(base::text("empty the folder of ", target_), error.value());
}

}  // namespace plait::store::posix
