#include "store/objects/bucket/xml_text.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"

namespace plait::store::bucket {

using base::text;

std::string xml_text(std::string_view document, std::string_view tag) {
  const std::string open = text('<', tag, '>');
  const std::size_t begin = document.find(open);
  if (begin == std::string_view::npos) return {};
  std::string_view rest = document.substr(begin + open.size());
  rest = rest.substr(0, rest.find('<'));
  constexpr std::array<std::pair<std::string_view, char>, 7> kEntities{{{"&amp;", '&'},
                                                                        {"&lt;", '<'},
                                                                        {"&gt;", '>'},
                                                                        {"&quot;", '"'},
                                                                        {"&#34;", '"'},
                                                                        {"&apos;", '\''},
                                                                        {"&#39;", '\''}}};
  std::string result;
  while (!rest.empty()) {
    bool replaced = false;
    for (const auto& [entity, character] : kEntities) {
      if (!rest.starts_with(entity)) continue;
      result += character;
      rest.remove_prefix(entity.size());
      replaced = true;
      break;
    }
    if (replaced) continue;
    result += rest.front();
    rest.remove_prefix(1);
  }
  return result;
}

}  // namespace plait::store::bucket
