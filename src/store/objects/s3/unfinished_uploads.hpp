/// Lists of uploads that are neither complete nor aborted, and of their parts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/objects/object_upload.hpp"
#include "store/objects/s3/bucket.hpp"

namespace plait::store::s3 {

/// A page of either list.
template <class Entry>
struct UploadPage {
  std::vector<Entry> entries;
  bool is_last = true;
  std::string next;  ///< query of the next page, which begins with `&`; empty if the page does not state it
};

UploadPage<UnfinishedUpload> parse_uploads(std::string_view document);
UploadPage<StoredPart> parse_parts(std::string_view document);

/// The treatment of a list that the server does not permit or implement (statuses 401, 403, 405 and 501): an error, or
/// an empty list.
enum class Rejected { kThrow, kEmpty };

/// Returns the unfinished uploads of the object with a key, the newest first.  errors  kSystem.
std::vector<UnfinishedUpload> object_uploads(Bucket& bucket, const std::string& key, Rejected rejected);
/// Returns the parts of an unfinished upload by ascending numbers; empty if it no longer exists.  errors  kSystem.
std::vector<StoredPart> stored_parts(Bucket& bucket, const std::string& key, const std::string& id, Rejected rejected);
/// Aborts an upload; ignores one that no longer exists.  errors  kSystem.
void abort_upload(Bucket& bucket, const std::string& key, const std::string& id);

/// Makes the list of the uploads of the object with a key and of the objects below it. An empty key stands for the
/// whole bucket.
std::unique_ptr<UnfinishedUploads> make_unfinished_uploads(std::shared_ptr<Bucket> bucket, std::string key);

}  // namespace plait::store::s3
