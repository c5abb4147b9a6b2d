/// Commits a new persistent file, which replaces an old file of the same name.
///
/// Problem: the file consists of components on several hosts, and a process may be killed at any time. Afterwards
/// either the old file or the new one must be complete.
///
/// Idea: a component without a description is invisible. All ranks but 0 write their descriptions first, then rank 0
/// writes that of component 0, which makes the file complete. Each description lists the ids of the older files that it
/// replaces, so that these are ignored from then on, even if the process is killed before they are removed.
///
/// Example: file A on 3 ranks is replaced by B. Killed before the last description: B lacks component 0 and is ignored,
/// A is used. Killed after it: B is complete and lists A as replaced, B is used. The components of A are removed last.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/text.hpp"
#include "collective/gather.hpp"
#include "distant/shared/shared_file_impl.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"

namespace plait {

namespace shared = distant::shared;

namespace {

/// The hosts of the components, and the ids of older files with the same name.
struct Census {
  std::vector<shared::Hosts> hosts;
  std::vector<std::string> old;
};

/// Gathers the census of all ranks.  Collective.  In a new file, rank r serves component r.
Census take_census(transport::Transport& transport, const std::string& path, const std::string& own_id) {
  const std::vector<std::string> encoded_of_ranks = collective::gather_to_all(transport, [&] {
    std::set<std::string> ids = shared::find_ids(path);
    ids.erase(own_id);
    return base::encode(distant::host_name(), std::vector<std::string>(ids.begin(), ids.end()));
  });
  Census census;
  std::set<std::string> old;
  for (int component = 0; const std::string& encoded : encoded_of_ranks) {
    std::string host;
    std::vector<std::string> ids;
    base::decode(encoded, base::kAnotherRank, host, ids);
    if (census.hosts.empty() || census.hosts.back().name != host) {
      census.hosts.push_back({component, component, host});
    } else {
      census.hosts.back().last = component;
    }
    ++component;
    old.insert(ids.begin(), ids.end());
  }
  census.old.assign(old.begin(), old.end());
  return census;
}

}  // namespace

void SharedFile::Impl::commit(collective::Collective& call) {
  if (one_) {
    commit_one(call);
  } else {
    commit_striped(call);
  }
}

void SharedFile::Impl::commit_one(collective::Collective& call) {
  // One rank of each node syncs, because each node caches its own writes. The old file is replaced only after all of
  // them are on the disk.
  if (options_.atomic)
    call.run_phase([&] {
      if (transport_->node_rank() == 0) parts_.direct(0)->sync();
    });
  call.run_phase([&] {
    if (new_one_) new_one_->commit();
    new_one_.reset();
  });
  call.run_phase([&] { shared::remove_others(options_.path, {}); });
}

/// The file becomes complete with the description of component 0, which is written last. From then on it hides the
/// older files that it lists, so that exactly one file is valid after a kill between any two steps.
void SharedFile::Impl::commit_striped(collective::Collective& call) {
  const Census census = take_census(*transport_, options_.path, id_);
  const shared::Description description{id_,          transport_->size(), unit_,         rank_,
                                        census.hosts, census.old,         options_.limit};
  call.run_phase([&] {
    if (options_.atomic) parts_.direct(rank_)->sync();
    if (rank_ != 0) shared::write_description(new_component_path_, description);
  });
  call.run_phase([&] {
    if (rank_ == 0) shared::write_description(new_component_path_, description);
  });
  new_component_path_.clear();
  call.run_phase([&] {
    shared::remove_others(options_.path, id_);
    struct stat found{};
    if (::stat(options_.path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return;
    if (::unlink(options_.path.c_str()) != 0 && errno != ENOENT)
      throw store::posix::system_error(base::text("remove the replaced ", options_.path), errno);
  });
}

}  // namespace plait
