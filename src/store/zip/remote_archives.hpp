/// Zip files that are objects in object stores: `s3://b/data.zarr.zip`.
///
/// A part of a key that ends with `.zip` may be such an object, or it may belong to the keys of other objects.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/zip/archive.hpp"

namespace plait::store::zip {

/// How an archive that this process has opened before is compared with its object.
enum class Validation : std::uint8_t {
  kRecent,  ///< by its ETag, unless that was compared in the last five seconds
  kNow      ///< by its ETag
};

/// Returns the zip file of a URL, which is the object itself, or continues after it; nullptr if there is none.
/// cost  Nothing if no part of the key ends with `.zip`. One request if the archive is open and is compared, else one
///       for a directory of up to 128 KiB, two for a longer one.
/// errors  Those of ObjectRanges, but an object that must not be read is none if the URL continues after it.
///         kSystem: the archive is damaged.
std::shared_ptr<Archive> find_remote(const std::string& url, Validation validation);

/// Returns the directory of an archive for other ranks, which send no request for it.
std::string encode_remote(const Archive& archive);
/// Returns the archive with the directory of another rank. This process uses it for the name, unless it has validated
/// another content itself in the last five seconds.  errors  kSystem: the directory is damaged.
std::shared_ptr<Archive> adopt_remote(std::string_view encoded);

}  // namespace plait::store::zip
