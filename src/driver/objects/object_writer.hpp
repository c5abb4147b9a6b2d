/// The upload of a new object whose content is in a store, such as a temporary file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "collective/collective.hpp"
#include "store/new_file.hpp"
#include "store/objects/object_store.hpp"
#include "store/objects/object_upload.hpp"
#include "store/store.hpp"

namespace plait::driver::objects {

/// An upload that this process has begun or joined, and neither completed nor aborted.
struct ActiveUpload {
  std::string url;  ///< of the object
  std::string id;
  bool operator==(const ActiveUpload&) const = default;
};
/// Returns the uploads whose parts would be left if this process were killed now, except those of files that keep them.
/// threads  Any.
std::vector<ActiveUpload> active_uploads();

/// Returns the size of the parts of an object of `bytes` bytes: 8 MiB, or a 9,000th of the object if that is more.
std::int64_t part_bytes_for(std::int64_t bytes);

struct UploadPlan;
struct UploadCandidate;

/// Makes a new object appear, on rank 0: remembers which object has the name at first, begins or joins the multipart
/// upload, and completes it if the name still has that object.
class ObjectWriter {
 public:
  /// Examines the present object, which the new one may replace.
  /// errors  kSystem: no access to the bucket, or the server does not check conditions.
  ObjectWriter(const std::string& url, const store::NewFileOptions& options);
  ~ObjectWriter() { discard(nullptr); }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  /// Makes the object appear: completes the upload if set_parts() was called, else puts the content by one request.
  /// errors  kSystem: another program has made or replaced the object, which is unchanged.
  void commit(store::Store& content);
  /// Aborts the upload, unless a later program shall resume it. Resuming requires that the server's ETags of parts are
  /// MD5s. content: compared with a stored part to check that; nullptr: assumes that they are MD5s.
  void discard(store::Store* content) noexcept;

  /// Plans the upload of a content, and begins it if there is no candidate to compare.
  UploadPlan plan_upload(store::Store& content);
  /// Begins the upload.
  void begin(UploadPlan& plan);
  /// Joins an upload whose stored parts all have the bytes of the content.
  void join(UploadPlan& plan, const UploadCandidate& candidate);
  /// Sets the parts that were sent. If this is not called, commit() puts the object by one request.
  void set_parts(std::vector<store::SentPart> parts) { parts_ = std::move(parts); }

 private:
  bool put(store::Store& content);
  bool leaves_upload(store::Store* content) noexcept;
  void record_upload(const std::string& id);
  void end_upload() noexcept;

  base::Owner owner_;
  std::string url_;
  bool keeps_unfinished_;
  bool is_joined_ = false;  // another program has begun the upload
  std::int64_t part_bytes_ = 0;
  std::string id_;
  std::vector<store::UnfinishedUpload> unfinished_;
  std::shared_ptr<store::ObjectStore> objects_;
  std::string object_;
  store::ObjectIdentity original_identity_;
  std::unique_ptr<store::ObjectUpload> upload_;
  std::vector<store::SentPart> parts_;
  ActiveUpload active_;
};

/// Sends the content of a new object, each rank its parts, unless one put suffices. Collective.
/// writer: on rank 0; else nullptr.
/// unit: rank (b / unit) mod P sends the part that begins at byte b; if it is less than a part, the ranks take turns.
/// memory  ObjectUpload::kMaxPartsInFlight + 1 parts of each rank: 40 MiB for objects of up to 72 GB.
/// errors  kSystem, the same on every rank.
void send_content(collective::Collective& call, const std::string& url, store::Store& content, ObjectWriter* writer,
                  std::int64_t unit);

}  // namespace plait::driver::objects
