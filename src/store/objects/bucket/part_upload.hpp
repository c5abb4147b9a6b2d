/// Uploads of an object in parts, each of which is a put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/objects/bucket/bucket_objects.hpp"
#include "store/objects/bucket/pending_puts.hpp"
#include "store/objects/object_upload.hpp"

namespace plait::store::bucket {

/// Has parts in flight, and compares conditions before the object appears. Derived classes make the requests.
class PartUpload : public ObjectUpload {
 public:
  PartUpload(std::shared_ptr<ConditionalObjects> objects, const Bucket& bucket, std::string object);

  void join(const std::string& id) override { id_ = id; }
  void send(std::int64_t number, std::int64_t offset, std::vector<std::byte> bytes) override;
  std::vector<SentPart> finish() override;
  bool commit(const std::vector<SentPart>& parts, const Condition& condition) override;

 protected:
  ConditionalObjects& objects() const { return *objects_; }
  const std::string& object() const { return object_; }
  const std::string& url() const { return url_; }
  /// Returns the name of the upload, which begin() or join() has set.
  const std::string& id() const { return id_; }
  void set_id(std::string id) { id_ = std::move(id); }
  /// Waits for the parts in flight, whatever becomes of them.
  void drop_parts() {
    parts_.finish([](const PendingPut&) {});
  }

 private:
  /// Fills the request of a part, without its body.
  virtual void fill_part(PendingPut& part) = 0;
  /// Returns the tag of a part that has been sent.  errors  kSystem: it has failed.
  virtual std::string part_tag(const PendingPut& part) = 0;
  /// Makes the object appear. Returns false if the condition is not met.
  /// sent: the condition of the request, or none if the server does not check conditions.
  virtual bool complete(const std::vector<SentPart>& parts, const Condition& sent, const Condition& condition) = 0;

  std::shared_ptr<ConditionalObjects> objects_;  ///< refers to the bucket, which parts in flight use
  const Bucket& bucket_;
  std::string object_;
  std::string url_;
  std::string id_;
  PendingPuts parts_{kMaxPartsInFlight};
  std::vector<SentPart> sent_;
};

}  // namespace plait::store::bucket
