/// Opens shared files: determines where the bytes are stored, and which rank serves them.
///
/// New files, unless the caller chooses: rank 0 creates a temporary file, and all ranks test if they see it. If all see
/// it, and the file system is coherent or all ranks are on one node, it becomes the shared file. Otherwise each rank
/// creates a component file on its own disk, and the shared file is striped.
///
/// Existing files: all ranks examine their folders, rank 0 chooses (choice.cpp), and every rank opens its part. Another
/// program may replace the file between these phases. Then the opening fails with ENOENT or ESTALE and is repeated, as
/// long as some rank sees something new.
///
/// A rank that serves several components opens them in rounds, because a distant file has one file per rank. Example: 4
/// components on 2 ranks are opened in 2 rounds, each with one component of either rank.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/gather.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "distant/shared/shared_file_impl.hpp"
#include "plait/error.hpp"
#include "store/location.hpp"
#include "store/posix/descriptor.hpp"
#include "store/stripe/stripe_description.hpp"

namespace plait {

namespace fs = std::filesystem;
namespace shared = distant::shared;

using base::text;

namespace {

/// The default size of a stripe, from section 3 of "Distant I/O" (plait/shared_file.hpp).
constexpr std::int64_t kDefaultUnit = std::int64_t{32} << 10;
/// Bounds of the size of a stripe, which is contiguous on one disk: at least a page, and small enough that a large
/// request uses many disks.
constexpr std::int64_t kMinUnit = std::int64_t{4} << 10;
constexpr std::int64_t kMaxUnit = std::int64_t{4} << 20;

/// Returns the size of a stripe. A stripe should have the size of a typical request, which then is one message to one
/// disk, or two messages if it is not aligned.
std::int64_t choose_unit(const SharedFileOptions& options) {
  if (options.unit > 0) return options.unit;
  if (options.request == 0) return kDefaultUnit;
  std::int64_t unit = kMinUnit;
  while (unit < options.request && unit < kMaxUnit) unit *= 2;
  return unit;
}

void check_options(const SharedFileOptions& options) {
  if (shared::file_name(options.path).empty())
    base::throw_argument_error("\"", options.path, "\" names no file; pass the path of one");
  if (options.path.find('\0') != std::string::npos)
    base::throw_argument_error("the path ", options.path.c_str(), " contains a NUL character; leave that out");
  const auto check_not_negative = [&](const char* what, std::int64_t value) {
    if (value < 0) base::throw_argument_error(what, "=", value, " was given for a shared file; pass 0 or more");
  };
  check_not_negative("request", options.request);
  check_not_negative("unit", options.unit);
  check_not_negative("limit", options.limit);
  check_not_negative("expected", options.expected);
  if (options.atomic && (!options.persistent || options.mode != SharedFileMode::kWrite))
    base::throw_argument_error("atomic was asked for, which is for persistent files in mode \"w\"");
}

}  // namespace

std::string SharedFile::Impl::call_text() const {
  static constexpr std::array<const char*, 3> kModes{"r", "r+", "w"};
  return text("open the shared file \"", options_.path, "\" in mode \"",
              kModes.at(static_cast<std::size_t>(options_.mode)), "\" (",
              options_.persistent ? (options_.atomic ? "persistent, atomic" : "persistent") : "not persistent",
              options_.striped ? (*options_.striped ? ", striped" : ", one file") : "", ", request ", options_.request,
              ", unit ", options_.unit, ", limit ", options_.limit, ", expected ", options_.expected,
              options_.reserve ? ", reserved)" : ")");
}

std::string SharedFile::Impl::component_path(int component) const {
  const bool persistent = options_.mode != SharedFileMode::kWrite || options_.persistent;
  return options_.path +
         shared::component_suffix(component, parts_.stripes().components(), id_, persistent ? 'c' : 's');
}

void SharedFile::Impl::open() {
  collective::Collective call(*transport_, [this] { return call_text(); }, [this] { check_options(options_); });
  if (options_.mode != SharedFileMode::kWrite) {
    open_existing(call);
  } else if (options_.striped == true || !make_one(call)) {
    make_striped(call);
  }
  parts_.finish_opening();
  if (options_.expected > 0) warn_of_missing_space();
  call.end_phase(nullptr);  // fails if another rank has failed since the last phase
  open_ = true;
}

void SharedFile::Impl::fail_open(const std::string& message, const Comm& comm, int system_code) {
  // The constructor makes the collective calls with which each open begins.
  const Impl impl({}, comm, core::get_transport(comm).next_number());
  const Error error = core::call_error(message, system_code);
  collective::Collective::fail(*impl.transport_, std::make_exception_ptr(error));
  throw error;
}

/// Tries to create one ordinary file: rank 0 creates it, and all ranks test if they see it.  Returns true if all ranks
/// use that file; false if the file is to be striped.
bool SharedFile::Impl::make_one(collective::Collective& call) {
  std::string folder;
  call.run_phase([&] {
    folder = shared::parent_folder(store::posix::follow_links(options_.path));
    if (rank_ == 0) {
      new_one_ = std::make_unique<store::posix::Replacement>(options_.path, 0, std::span<const std::byte>());
    } else if (::access(folder.c_str(), F_OK) != 0) {
      throw store::posix::system_error(
          text("open ", options_.path, " on rank ", rank_, " (host ", distant::host_name(), ')'), errno);
    }
  });
  const std::string name = collective::agree_on_text(
      *transport_, [&] { return new_one_ ? shared::file_name(new_one_->temporary_path()) : std::string(); });
  std::string path;
  bool seen = false;
  bool usable = false;
  call.run_phase([&] {
    path = (fs::path(folder) / name).string();
    seen = ::access(path.c_str(), F_OK) == 0;
    usable = seen && (!transport_->nodes_apart() || shared::is_coherent(folder));
  });
  // The lowest rank that does not see the file, or the number of ranks; and 1 if the file is usable on all ranks.
  std::array<std::int64_t, 2> agreed{seen ? transport_->size() : rank_, usable ? 1 : 0};
  transport_->reduce_min(agreed);
  if (agreed[1] == 0 && !options_.striped) {
    new_one_.reset();
    return false;
  }
  if (agreed[0] < transport_->size()) {
    new_one_.reset();
    call.run_phase([&] {
      base::throw_system_error(
          ENOENT, "cannot open the shared file ", options_.path, " as one file: rank ", agreed[0],
          " does not see what rank 0 creates there; name a folder that all ranks see, or let it be striped");
    });
  }
  one_ = true;
  if (options_.persistent && !options_.atomic) {
    // Test on every rank that the new file can be opened before it replaces the old one.
    call.run_phase([&] { distant::LocalFile(path, DistantMode::kReadWrite, rank_, false); });
    const std::string encoded_identity = collective::agree_on_text(
        *transport_, [&] { return base::encode(new_one_ ? new_one_->identity() : store::Identity{}); });
    commit_one(call);
    open_one(call, options_.path);
    expect_one(call, base::decode<store::Identity>(encoded_identity, base::kAnotherRank));
    return true;
  }
  open_one(call, path);
  // A file without a name disappears even if the ranks are killed. Across several hosts the name must stay, because a
  // network file system may delete an unlinked file that another host has open.
  if (!options_.persistent && !transport_->nodes_apart()) new_one_.reset();
  return true;
}

void SharedFile::Impl::open_one(collective::Collective& call, const std::string& path) {
  std::vector<std::string> paths;
  call.run_phase([&] {
    parts_ = shared::Parts(rank_);
    paths.push_back(path);
  });
  open_rounds(call, paths, options_.persistent || options_.mode != SharedFileMode::kWrite);
  // The ranks that sync the file: one rank of each other node, and this rank for its own node.
  std::vector<int> ranks;
  for (const std::string& each :
       collective::gather_to_all(*transport_, [this] { return base::encode(transport_->worker_on_node(0)); })) {
    const int rank = base::decode<int>(each, base::kAnotherRank);
    if (transport_->rank_on_node(rank) < 0) ranks.push_back(rank);
  }
  std::ranges::sort(ranks);
  const auto [end, last] = std::ranges::unique(ranks);
  ranks.erase(end, last);
  ranks.push_back(rank_);
  syncing_ranks_ = std::move(ranks);
}

void SharedFile::Impl::expect_one(collective::Collective& call, const store::Identity& file) {
  call.run_phase([&] {
    if (store::same_file(parts_.direct(0)->identity_anywhere(), file)) return;
    base::throw_system_error(ESTALE, "cannot open the shared file ", options_.path, " on rank ", rank_, " (host ",
                             distant::host_name(), "): another program replaces it; open it once that has ended");
  });
}

void SharedFile::Impl::make_striped(collective::Collective& call) {
  id_ = collective::agree_on_text(*transport_, [this] { return rank_ == 0 ? store::stripe::new_id() : std::string(); });
  unit_ = choose_unit(options_);
  std::vector<std::string> paths;
  call.run_phase([&] {
    std::vector<int> servers(static_cast<std::size_t>(transport_->size()));
    for (std::size_t i = 0; i < servers.size(); ++i) servers[i] = static_cast<int>(i);
    parts_ = shared::Parts(shared::StripeMap(unit_, transport_->size()), std::move(servers));
    paths.push_back(component_path(rank_));
    const std::string& own_path = paths[0];
    // No other user may open a file that only this job uses.
    store::posix::open_file(own_path, O_RDWR | O_CREAT | O_EXCL, options_.persistent ? 0666 : 0600,
                            text(own_path, " on rank ", rank_, " (host ", distant::host_name(), ')'));
    new_component_path_ = own_path;
  });
  open_rounds(call, paths, options_.persistent);
  if (!options_.persistent) {
    // All ranks have opened the component or access it through this rank, so it does not need its name any more.
    ::unlink(paths[0].c_str());
    new_component_path_.clear();
  } else if (!options_.atomic) {
    commit_striped(call);
  }
}

/// Repeats the search if the file was replaced while ranks examined it, or before they had opened it.  If no rank sees
/// anything new since the last attempt, the failure is final: at once for ENOENT, after store::kMaxSameAttempts for
/// ESTALE.
void SharedFile::Impl::open_existing(collective::Collective& call) {
  std::string before;
  std::int64_t same_results = 0;  // number of attempts since any rank last saw something new
  for (int attempt = 1;; ++attempt) {
    shared::NameView view;
    store::posix::Descriptor inode_pin;
    std::string now;
    call.run_phase([&] {
      view = shared::examine_folder(options_.path, inode_pin);
      now = base::encode(view);
    });
    same_results = now == before ? same_results + 1 : 0;
    before = std::move(now);
    transport_->reduce_min({&same_results, 1});
    try {
      return open_chosen(call, view);
    } catch (const Error& error) {
      const int code = error.system_code();
      if ((code != ENOENT && code != ESTALE) || same_results == store::kMaxSameAttempts ||
          (same_results > 0 && code == ENOENT) || attempt == store::kMaxAttempts)
        throw;
      one_ = false;
    }
  }
}

void SharedFile::Impl::open_chosen(collective::Collective& call, const shared::NameView& view) {
  const std::vector<std::string> views = collective::gather(*transport_, [&] { return base::encode(view); });
  shared::Choice choice;
  call.run_phase([&] {
    if (rank_ != 0) return;
    std::vector<shared::NameView> all;
    all.reserve(views.size());
    for (const std::string& each : views) all.push_back(base::decode<shared::NameView>(each, base::kAnotherRank));
    choice = shared::choose(options_.path, options_.striped, all);
  });
  choice = base::decode<shared::Choice>(collective::agree_on_text(*transport_, [&] { return base::encode(choice); }),
                                        base::kAnotherRank);
  if (choice.one) {
    one_ = true;
    open_one(call, options_.path);
    expect_one(call, view.plain.value_or(store::Identity{}));
  } else {
    id_ = choice.id;
    unit_ = choice.unit;
    if (options_.limit == 0) options_.limit = choice.limit;
    std::vector<std::string> own_paths;
    call.run_phase([&] {
      const auto components = static_cast<int>(choice.servers.size());
      parts_ = shared::Parts(shared::StripeMap(unit_, components), std::move(choice.servers));
      for (const int component : parts_.components_served_by(rank_)) own_paths.push_back(component_path(component));
    });
    open_rounds(call, own_paths, true);
  }
  find_end(call);
}

void SharedFile::Impl::open_rounds(collective::Collective& call, const std::vector<std::string>& own_paths,
                                   bool named) {
  const DistantMode mode = options_.mode == SharedFileMode::kRead ? DistantMode::kRead : DistantMode::kReadWrite;
  for (int round = 0; round < parts_.rounds(); ++round) {
    const std::int64_t number = transport_->next_number();  // before anything that may fail on this rank alone
    const auto index = static_cast<std::size_t>(round);
    auto files = std::make_unique<DistantFile::Impl>(comm_, service_, mode);
    files->open_together(number, {index < own_paths.size() ? own_paths[index] : std::string(), mode, false},
                         text("open a component of ", options_.path), named, !one_);
    // This phase ensures that all ranks have opened this round before the next one gets its number.
    call.run_phase([&] { parts_.add(std::move(files)); });
  }
}

/// Finds the end of the file: each rank computes the end that its own components imply, and the largest one is agreed
/// on.
void SharedFile::Impl::find_end(collective::Collective& call) {
  std::int64_t end = 0;
  call.run_phase([&] {
    for (const int component : parts_.components_served_by(rank_))
      end = std::max(end, parts_.stripes().end(component, parts_.direct(component)->size()));
  });
  std::int64_t negative_end = -end;  // the smallest of these is the negative of the largest end
  transport_->reduce_min({&negative_end, 1});
  known_end_.set(-negative_end);
}

void SharedFile::Impl::warn_of_missing_space() {
  std::string own_space;
  const std::string folder = shared::parent_folder(options_.path);
  struct statvfs filesystem{};
  struct stat disk{};
  collective::caught([&] {
    if (::statvfs(folder.c_str(), &filesystem) != 0 || ::stat(folder.c_str(), &disk) != 0) return;
    std::int64_t lacking = 0;
    if (one_) {
      if (rank_ == 0) lacking = options_.expected - parts_.direct(0)->size();
    } else {
      for (const int component : parts_.components_served_by(rank_))
        lacking += std::max<std::int64_t>(
            0, parts_.stripes().length(component, options_.expected) - parts_.direct(component)->size());
    }
    own_space = base::encode(lacking, static_cast<std::int64_t>(filesystem.f_bavail * filesystem.f_frsize),
                             std::pair(distant::host_name(), static_cast<std::uint64_t>(disk.st_dev)));
  });
  // Ranks may share a disk. For each disk of a host: the bytes that its ranks lack in total, and the bytes free.
  std::map<std::pair<std::string, std::uint64_t>, std::pair<std::int64_t, std::int64_t>> disks;
  for (const std::string& each : collective::gather(*transport_, [&] { return own_space; })) {
    if (each.empty()) continue;
    std::int64_t lacking = 0;
    std::int64_t free = 0;
    std::pair<std::string, std::uint64_t> disk_of_host;
    base::decode(each, base::kAnotherRank, lacking, free, disk_of_host);
    auto& [all_lacking, min_free] = disks.try_emplace(disk_of_host, 0, free).first->second;
    all_lacking += lacking;
    min_free = std::min(min_free, free);
  }
  for (const auto& [disk_of_host, need] : disks) {
    if (need.first <= need.second) continue;
    std::cerr << text("plait: the shared file ", options_.path, " is expected to get ", options_.expected,
                      " bytes, but host ", disk_of_host.first, " has room for ", base::bytes_text(need.second),
                      " of its ", base::bytes_text(need.first), '\n');
    return;
  }
}

}  // namespace plait
