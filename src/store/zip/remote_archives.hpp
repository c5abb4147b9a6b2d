/// Zip files that are objects in object stores: `s3://b/data.zarr.zip`.
///
/// The beginning of a key, up to a part that ends with `.zip`, may be the key of such an object, or only a common
/// prefix of other keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/zip/archive.hpp"

namespace plait::store::zip {

/// When the ETag of an archive that this process has opened before is compared with the present ETag of its object.
enum class Validation : std::uint8_t {
  kRecent,  ///< compare it unless it was compared in the last five seconds
  kNow      ///< always compare it
};

/// Returns the zip file that a URL names, or in which the URL names an entry; nullptr if there is none.
/// cost  Nothing if no part of the key ends with `.zip`. If the archive is open, one request if it must be compared;
///       otherwise one request for a directory of up to 128 KiB, and two for a longer one.
/// errors  Those of ObjectRanges; but if the URL continues after the object, an object that this user may not read
///         counts as none.  kSystem: the archive is damaged.
std::shared_ptr<Archive> find_remote(const std::string& url, Validation validation);

/// Encodes the directory and the identity of an archive for other ranks, so that they need no request for it.
std::string encode_remote(const Archive& archive);
/// Returns the archive with the directory that another rank has encoded. Later calls of find_remote() in this process
/// use it, unless this process itself has validated other content in the last five seconds.
/// errors  kSystem: the encoded directory is damaged.
std::shared_ptr<Archive> adopt_remote(std::string_view encoded);

}  // namespace plait::store::zip
