/// Signatures of Azure Storage (Shared Key), by HMAC-SHA256.
#pragma once

#include <cstdint>
#include <string>

#include "store/http/request.hpp"

namespace plait::store::azure {

/// Returns a date such as `Fri, 26 Jun 2015 23:39:12 GMT`.  seconds: since 1970.
std::string http_date(std::int64_t seconds);

/// Adds the header `Authorization`. It signs all headers that the request has, which include `x-ms-date`. The query of
/// its URL is encoded.  key: in base64.
void sign(http::Request& request, const std::string& account, const std::string& key);

}  // namespace plait::store::azure
