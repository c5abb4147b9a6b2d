/// Lists of objects: one page of ListObjectsV2.
#pragma once

#include <string>
#include <string_view>

#include "store/objects/bucket/listing.hpp"

namespace plait::store::s3 {

/// Returns the query of a page.  next: the token of the page before; empty for the first page.
std::string list_query(const std::string& prefix, ListDepth depth, const std::string& next);
/// Returns a key of a list without its encoding: `%XX`, and `+`, which some servers write for a blank.
std::string decoded_key(std::string key);
/// Parses the answer of a server.  errors  kSystem: it is no list. where: the prefix in errors.
bucket::ListPage parse_page(std::string_view document, const std::string& where);

}  // namespace plait::store::s3
