/// Objects in buckets of servers.
#pragma once

#include <memory>
#include <string>

#include "store/objects/bucket/bucket.hpp"

namespace plait::store::bucket {

/// Objects that are replaced as a whole, under conditions that the server checks.  threads  Any.
class ConditionalObjects : public web::WebObjects {
 public:
  /// Checks once for each bucket that its server checks conditions.  errors  kSystem, ENOTSUP: it does not.
  virtual void probe() = 0;

 protected:
  using WebObjects::WebObjects;
};

/// Opens the objects at a URL in a bucket.  errors  kArgument: the key has an empty part, `.` or `..`.
std::shared_ptr<ConditionalObjects> open_objects(const std::string& url, std::shared_ptr<Bucket> bucket,
                                                 Sharing sharing);
/// Opens the objects at a location for an upload of one of them: probes the bucket if puts have conditions.
/// errors  kArgument. kSystem.
std::shared_ptr<ConditionalObjects> open_for_upload(const std::string& location, std::shared_ptr<Bucket> bucket);

/// Returns true if the present object is that of a write whose answer was lost.  object: its name in `objects`.
/// errors  kSystem: the server does not say.
bool is_from_write(ConditionalObjects& objects, const Bucket& bucket, const std::string& object,
                   std::string_view write);

/// Returns 128 random bits in hexadecimal.
std::string random_name();

}  // namespace plait::store::bucket
