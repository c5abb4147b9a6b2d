#include "container/raw/container.hpp"

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/refuse.hpp"
#include "plait/error.hpp"

namespace plait::container::raw {

namespace {

class Raw : public Container {
 public:
  bool tells() const override { return false; }
  std::string_view suffix() const override { return {}; }
  std::string kind() const override { return "raw elements"; }
  bool begins(std::span<const std::byte> /*front*/) const override { return false; }

  Content inspect(store::Store& /*store*/, const std::string& path, const FileOptions& options) const override {
    Content found{described_type(options, path, false), options.offset};
    if (options.offset < 0)
      refuse(base::text(path, ": offset=", options.offset, " is negative; give a number of bytes"));
    return found;
  }
  NewContent create(const std::string& path, const FileOptions& options) const override {
    NewContent result;
    result.type = described_type(options, path, false);
    if (options.offset != 0)
      refuse(base::text(path, ": offset=", options.offset, " in mode w; a new file begins with its array"));
    return result;
  }
};

}  // namespace

const Container& container() {
  static const Raw kContainer;
  return kContainer;
}

}  // namespace plait::container::raw
