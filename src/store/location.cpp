#include "store/location.hpp"

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "base/text_reader.hpp"
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

std::string Location::packed() const {
  std::string out = base::text(files.size());
  for (const posix::Identity& file : files) base::append_parts(out, ' ', posix::to_string(file));
  base::append_parts(out, ' ', path.size(), '\n', path, details);
  return out;
}

Location Location::unpacked(const std::string& packed) {
  Location result;
  base::TextReader in(packed);
  std::size_t count = 0;
  std::size_t path_length = 0;
  in >> count;
  result.files.resize(count);
  for (posix::Identity& file : result.files) in >> file;
  in >> path_length;
  const std::size_t begin = packed.find('\n') + 1;
  result.path = packed.substr(begin, path_length);
  result.details = packed.substr(begin + path_length);
  return result;
}

}  // namespace plait::store
