/// Objects of servers that have the interface of S3: `s3://BUCKET/KEY`.
#pragma once

#include <memory>
#include <string>

#include "store/objects/open_objects.hpp"
#include "store/objects/s3/configuration.hpp"

namespace plait::store::s3 {

/// Returns the kind of these object stores. Objects are replaced as a whole, under conditions that the server checks.
/// threads  Any.
const ObjectStoreKind& kind();

/// Opens objects in a bucket.  url: their location.
std::shared_ptr<ObjectStore> open_bucket(const std::string& url, Configuration configuration, Sharing sharing);
/// Makes an upload of an object at a location in a bucket.  errors  kSystem: the server does not check conditions.
std::unique_ptr<ObjectUpload> make_bucket_upload(const std::string& location, const std::string& object,
                                                 Configuration configuration);

}  // namespace plait::store::s3
