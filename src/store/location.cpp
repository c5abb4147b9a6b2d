#include "store/location.hpp"

#include <algorithm>
#include <cerrno>

#include "base/errors.hpp"

namespace plait::store {

void expect_same_files(const Location& expected, const std::vector<Identity>& found, const std::string& display_name) {
  if (expected.files.empty() || std::ranges::equal(expected.files, found, same_file)) return;
  base::throw_system_error(ESTALE, "cannot open ", display_name,
                           ": ranks find different files under this name; use a name that leads all ranks to one file, "
                           "and wait until no program replaces it");
}

bool may_be_same_files(const Location& opened, const std::vector<Identity>& found) {
  return std::ranges::equal(opened.files, found, may_be_same_file);
}

}  // namespace plait::store
