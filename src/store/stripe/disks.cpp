#include "plait/disks.hpp"

#include <cstdlib>
#include <string_view>

#include "store/posix/posix_store.hpp"
#include "store/stripe/stripe_description.hpp"
#include "store/stripe/stripe_name.hpp"
#include "store/url.hpp"

namespace plait {

namespace stripe = store::stripe;

std::vector<std::string> disks() {
  std::vector<std::string> result;
  const char* setting = std::getenv("PLAIT_DISKS");
  std::string_view rest = setting == nullptr ? "" : setting;
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    if (end != 0) result.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return result;
}

int stripe_count(const std::string& path) {
  const bool is_url = stripe::is_name(path);
  const std::string name = is_url ? stripe::parse_name(path).path : store::ordinary_path(path);
  store::posix::PosixStore file(name, store::posix::PosixStore::Access::kRead);
  if (!is_url && !stripe::holds_description(file)) return 1;
  return static_cast<int>(stripe::read_description(file, name, "stripe:" + name).components.size());
}

std::string stripe_url(const std::string& path, const std::vector<std::string>& disks) {
  std::string url = "stripe:" + stripe::escaped(path);
  for (std::size_t i = 0; i < disks.size(); ++i) url += (i == 0 ? "?disks=" : ",") + stripe::escaped(disks[i]);
  return url;
}

}  // namespace plait
