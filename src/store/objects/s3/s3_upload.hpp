/// Multipart uploads of S3.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/objects/object_upload.hpp"
#include "store/objects/s3/bucket.hpp"

namespace plait::store::s3 {

/// Makes an upload. objects: the store of the object.
std::unique_ptr<ObjectUpload> make_upload(std::shared_ptr<web::WebObjects> objects, std::shared_ptr<Bucket> bucket,
                                          const std::string& object, const std::string& write_id);

/// Header in the metadata of an object that states which write has made it; see Bucket::header().
inline constexpr std::string_view kWriteHeader = "meta-plait-write";
/// Checks that a server can check the condition of a put of an object, whose location is given.
/// errors  kSystem, ENOTSUP: it gives the object no strong ETag.
void check_comparable(const Bucket& bucket, const std::string& location, const ObjectIdentity& condition);

}  // namespace plait::store::s3
