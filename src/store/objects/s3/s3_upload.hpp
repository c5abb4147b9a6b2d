/// Multipart uploads of S3.
#pragma once

#include <memory>
#include <string>

#include "store/objects/object_upload.hpp"
#include "store/objects/s3/bucket.hpp"

namespace plait::store::s3 {

/// Makes an upload. objects: the store of the object.
std::unique_ptr<ObjectUpload> make_upload(std::shared_ptr<web::WebObjects> objects, std::shared_ptr<Bucket> bucket,
                                          const std::string& object, const std::string& write_id);

/// Header in the metadata of an object that states which write has made it.
inline constexpr const char* kWriteHeader = "x-amz-meta-plait-write";
/// Returns the header that states a condition.
http::Header to_header(const ObjectIdentity& condition);
/// Checks that a server can check a condition.  errors  kSystem, ENOTSUP: it gives the object no strong ETag.
void check_strong(const ObjectStore& objects, const std::string& object, const ObjectIdentity& condition);

}  // namespace plait::store::s3
