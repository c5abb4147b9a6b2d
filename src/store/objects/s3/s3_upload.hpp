/// Multipart uploads of S3.
#pragma once

#include <memory>
#include <string>

#include "store/objects/object_upload.hpp"
#include "store/objects/s3/bucket.hpp"

namespace plait::store::s3 {

/// Makes an upload of an object at a location in a bucket.  errors  kSystem: the server does not check conditions.
std::unique_ptr<ObjectUpload> make_upload(const std::string& location, const std::string& object,
                                          std::shared_ptr<Bucket> bucket);

}  // namespace plait::store::s3
