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
/// Checks that the answer of a server is a document of this name, and not for example the page of another server.
/// what  the request, for errors: `cannot list s3://bucket/a`
/// errors  kSystem.
void check_document(std::string_view document, std::string_view name, const std::string& what);
/// Parses the answer of a server.  errors  kSystem: it is no list. where: the prefix in errors.
bucket::ListPage parse_page(std::string_view document, const std::string& where);

}  // namespace plait::store::s3
