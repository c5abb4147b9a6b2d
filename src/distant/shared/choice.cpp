// Chooses the file to open among those that ranks see under a name, and a server for each of its components.
//
// Problem: folders of several hosts may hold an ordinary file, components of one or more striped files, and leftovers
// of files that a newer one has replaced. Every rank must open the same file.
//
// Idea: rank 0 collects the views of all ranks, and groups the components by the id of their file. A file is complete
// if each of its components is seen by some rank. A complete file hides those that it lists as replaced. Exactly one
// file must remain.
//
// Example of servers: ranks 0 and 1 see components 0 and 2, and only rank 1 sees component 1. The component with the
// fewest ranks is assigned first: 1 to rank 1. Component 0 goes to rank 0, which has none yet. Component 2 goes to rank
// 0, because both have one component and its writer, rank 2, does not exist.

#include "distant/shared/choice.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <tuple>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::distant::shared {

namespace {

using base::text;

/// A striped file of which some rank sees at least one component.
struct Candidate {
  Description file;
  std::vector<std::vector<int>> seen_by;  ///< the ranks that see each component

  bool is_complete() const {
    return std::ranges::none_of(seen_by, [](const auto& ranks) { return ranks.empty(); });
  }
  std::string hosts_text() const {
    std::set<std::string> names;
    for (const Hosts& run : file.hosts) names.insert(run.name);
    std::string result;
    for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
    return result;
  }
};

/// Id, number of components, unit and limit of a file.  If descriptions with the same id differ in the other values,
/// because some were edited by hand, their components are not combined.
using Key = std::tuple<std::string, int, std::int64_t, std::int64_t>;

std::map<Key, Candidate> find_candidates(const std::vector<NameView>& views) {
  std::map<Key, Candidate> result;
  for (std::size_t rank = 0; rank < views.size(); ++rank)
    for (const StripedFile& seen : views[rank].striped) {
      Candidate& candidate = result[{seen.file.id, seen.file.components, seen.file.unit, seen.file.limit}];
      if (candidate.seen_by.empty()) {
        candidate.file = seen.file;
        candidate.seen_by.resize(static_cast<std::size_t>(seen.file.components));
      }
      for (const int component : seen.components)
        candidate.seen_by[static_cast<std::size_t>(component)].push_back(static_cast<int>(rank));
    }
  return result;
}

/// Returns `3, 5 to 7`.
std::string list_text(const std::vector<int>& sorted) {
  std::string result;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    result += text(result.empty() ? "" : ", ", sorted[i]);
    if (last > i) result += text(" to ", sorted[last]);
    i = last;
  }
  return result;
}

[[noreturn]] void throw_unopened(const std::string& path, const std::string& why, int code = ENOENT) {
  base::throw_system_error(code, "cannot open the shared file ", path, ": ", why);
}

[[noreturn]] void throw_incomplete(const std::string& path, const Candidate& candidate) {
  std::map<std::string, std::vector<int>> missing;
  for (std::size_t i = 0; i < candidate.seen_by.size(); ++i)
    if (candidate.seen_by[i].empty()) missing[candidate.file.host(static_cast<int>(i))].push_back(static_cast<int>(i));
  std::string where;
  for (const auto& [host, components] : missing)
    where += text(where.empty() ? "" : "; ", list_text(components), ", written on host ", host);
  throw_unopened(path, text("of its ", candidate.file.components, " components (id ", candidate.file.id,
                            ") no rank sees ", where, "; run on these hosts too, or copy what is missing"));
}

std::vector<int> assign_servers(const Candidate& file, std::size_t ranks) {
  std::vector<int> servers(file.seen_by.size(), -1);
  std::vector<int> load(ranks, 0);
  // Components that few ranks see are assigned first, because these have the fewest possible servers.
  std::vector<std::size_t> order(servers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return file.seen_by[i].size(); });
  for (const std::size_t i : order) {
    const auto writer = static_cast<int>(i);  // rank i wrote component i
    servers[i] = *std::ranges::min_element(file.seen_by[i], {}, [&](int rank) {
      return std::pair(load[static_cast<std::size_t>(rank)], rank == writer ? -1 : rank);
    });
    ++load[static_cast<std::size_t>(servers[i])];
  }
  return servers;
}

}  // namespace

Choice choose(const std::string& path, std::optional<bool> striped, const std::vector<NameView>& views) {
  // The first rank that does not see the same ordinary file as rank 0.
  const auto other = std::ranges::find_if(views, [&](const NameView& view) {
    const auto& first = views.front().plain;
    return view.plain.has_value() != first.has_value() || (first && !store::same_file(*view.plain, *first));
  });
  const bool all_same = other == views.end();
  const bool some_rank_sees_it =
      std::ranges::any_of(views, [](const NameView& view) { return view.plain.has_value(); });
  const bool can_use_plain = all_same && some_rank_sees_it && striped != true;
  const auto throw_not_alike = [&] {
    throw_unopened(
        path,
        text("ranks 0 and ", other - views.begin(),
             " do not see the same ordinary file there; put it where all ranks see it, and wait for programs that "
             "replace it"),
        ESTALE);
  };
  std::map<Key, Candidate> candidates;
  if (striped != false) candidates = find_candidates(views);

  std::set<std::string> replaced;
  for (const auto& [key, file] : candidates)
    if (file.is_complete()) replaced.insert(file.file.replaced.begin(), file.file.replaced.end());
  std::vector<const Candidate*> complete;
  for (const auto& [key, file] : candidates)
    if (file.is_complete() && !replaced.contains(file.file.id)) complete.push_back(&file);

  if (complete.size() > 1)
    throw_unopened(path,
                   text("several striped files have this name: those with the ids ", complete[0]->file.id,
                        " (written on ", complete[0]->hosts_text(), ") and ", complete[1]->file.id, " (written on ",
                        complete[1]->hosts_text(), "); remove the components of one"),
                   EEXIST);
  if (!complete.empty() && can_use_plain)
    throw_unopened(path,
                   "an ordinary file and a striped one have this name; choose one by striped=true or striped=false, or "
                   "remove one",
                   EEXIST);
  if (!complete.empty()) {
    const Candidate& candidate = *complete.front();
    return {/*one=*/false, candidate.file.id, candidate.file.unit, assign_servers(candidate, views.size()),
            candidate.file.limit};
  }
  if (can_use_plain) return {/*one=*/true, {}, 0, {0}, 0};
  if (!candidates.empty()) throw_incomplete(path, candidates.begin()->second);
  if (some_rank_sees_it && striped != true) throw_not_alike();
  throw_unopened(path, striped == false  ? "there is no such file"
                       : striped == true ? "no rank sees a component of it"
                                         : "there is no such file, and no rank sees a component of one");
}

}  // namespace plait::distant::shared
