#include "container/members.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/format_registry.hpp"
#include "container/npy/encoding.hpp"
#include "container/properties.hpp"

namespace plait::container {

using base::text;

namespace {

/// Maximum number of names in an error message.
constexpr std::size_t kMaxShown = 12;

/// Lists the names of arrays for an error message.
std::string list_names(const std::vector<Member>& members) {
  std::string out;
  for (std::size_t i = 0; i < std::min(members.size(), kMaxShown); ++i)
    base::append_parts(out, i == 0 ? "" : ", ", members[i].name);
  if (members.size() > kMaxShown) base::append_parts(out, " and ", members.size() - kMaxShown, " more");
  return out;
}

}  // namespace

const Member& find_member(const std::vector<Member>& members, const std::string& path) {
  const auto [file, array, format] = array_name(path);
  if (members.empty()) base::throw_argument_error(file, " contains no array; give another file");
  if (!array && members.size() > 1)
    base::throw_argument_error(file, " holds ", members.size(), " arrays: ", list_names(members), "; name one, as in ",
                               file, "::", members.front().name);
  const auto found = array ? std::ranges::find(members, *array, &Member::name) : members.begin();
  if (found == members.end())
    base::throw_argument_error(file, " contains no array \"", *array, "\"; it contains: ", list_names(members));
  if (found->rejection) found->rejection.raise(file, "::", found->name, ": ");
  return *found;
}

std::string new_array_name(const std::string& path, const std::string& default_name) {
  const auto [file, array, format] = array_name(path);
  if (!array) return default_name;
  if (array->empty())
    base::throw_argument_error(path, ": the name of the array is empty; write one after the ::, or leave out the ::");
  return std::string(*array);
}

std::vector<Member> make_new_members(const std::string& path, const FileOptions& options,
                                     const std::string& default_name) {
  std::vector<Member> members;
  if (options.arrays.empty()) {
    Member& member = members.emplace_back();
    static_cast<ArrayProperties&>(member) = options.properties();
    member.name = new_array_name(path, default_name);
    member.type = make_array_type(options, path, /*is_new=*/true);
  } else if (array_name(path).array) {
    base::throw_argument_error(
        path, ": several arrays were given, but the name is that of one; leave out the :: and what follows");
  }
  std::set<std::string_view> names;
  for (const ArrayDescription& array : options.arrays) {
    Member& member = members.emplace_back();
    static_cast<ArrayDescription&>(member) = array;
    apply_defaults(member, options);
    member.type = make_array_type(options_for(array), text(path, "::", array.name), /*is_new=*/true);
    if (!names.insert(array.name).second)
      base::throw_argument_error(path, ": two arrays have the name \"", array.name, "\"; give each a name of its own");
  }
  for (const Member& member : members) {
    if (member.name.empty()) base::throw_argument_error(path, ": an array has an empty name; give it another one");
    if (member.name.find('\0') != std::string::npos)
      base::throw_argument_error(path, ": the name of an array has a byte of zero; give it another one");
    if (!npy::is_utf8(member.name))
      base::throw_argument_error(path, ": the name of an array is not UTF-8; give it another one");
    if (member.type.dtype.empty())
      base::throw_argument_error(path, "::", member.name,
                                 ": the array needs a dtype, which the file is to state; give one");
  }
  return members;
}

std::vector<Member> select_members(std::vector<Member> members, const std::string& path) {
  if (!array_name(path).array) return members;
  return {find_member(members, path)};
}

}  // namespace plait::container
