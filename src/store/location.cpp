#include "store/location.hpp"

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::store {

void expect_same_files(const Location& expected, const std::vector<posix::Identity>& found, const std::string& shown) {
  if (expected.files.empty() || std::ranges::equal(expected.files, found, posix::same_file)) return;
  throw Error(ErrorKind::kSystem,
              base::text("cannot open ", shown,
                         ": ranks find different files under this name; use a name that leads all ranks to one file, "
                         "and wait until no program replaces it"),
              ESTALE);
}

bool may_be_same_files(const Location& opened, const std::vector<posix::Identity>& found) {
  return std::ranges::equal(opened.files, found, posix::may_be_same_file);
}

}  // namespace plait::store
