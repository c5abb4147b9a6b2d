/// Texts in answers of AWS's servers.
#pragma once

#include <string>
#include <string_view>

namespace plait::store::s3 {

/// Returns the text between `<tag>` and `</tag>` with its entities resolved; empty if there is none.
std::string xml_text(std::string_view document, std::string_view tag);

}  // namespace plait::store::s3
