/// Texts in XML answers of servers.
#pragma once

#include <string>
#include <string_view>

namespace plait::store::bucket {

/// Returns the text between `<tag>` and `</tag>` with its entities resolved; empty if there is none.
std::string xml_text(std::string_view document, std::string_view tag);

/// Calls visit with the content of each element `<tag>`, none of which contains another one.
template <typename Visit>
void for_each_element(std::string_view document, std::string_view tag, const Visit& visit) {
  const std::string open = "<" + std::string(tag) + ">";
  const std::string close = "</" + std::string(tag) + ">";
  for (std::size_t at = document.find(open); at != std::string_view::npos; at = document.find(open, at)) {
    const std::size_t begin = at + open.size();
    const std::size_t end = document.find(close, begin);
    if (end == std::string_view::npos) return;
    visit(document.substr(begin, end - begin));
    at = end;
  }
}

}  // namespace plait::store::bucket
