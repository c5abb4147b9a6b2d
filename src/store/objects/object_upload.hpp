/// Uploads of one large object in parts, which several processes send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/encoding/traits.hpp"
#include "store/objects/object_store.hpp"

namespace plait::store {

/// A part that the server has.
struct SentPart {
  std::int64_t number = 0;  ///< from 1 on
  std::string tag;          ///< the name of its content, which the server has given
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, SentPart>& part) {
  codec(part.number, part.tag);
}

/// A part of an unfinished upload, as the server lists it.
struct StoredPart {
  std::int64_t number = 0;  ///< from 1 on
  std::int64_t bytes = 0;
  std::string tag;      ///< in the form of SentPart::tag
  std::string changed;  ///< time when it was stored; may be empty
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, StoredPart>& part) {
  codec(part.number, part.bytes, part.tag, part.changed);
}

/// An upload that is neither complete nor aborted. Its program may still send parts, or may have been killed.
struct UnfinishedUpload {
  std::string key;    ///< key of the object
  std::string id;     ///< argument of ObjectUpload::join()
  std::string begun;  ///< time by the server's clock, such as `2026-11-30T08:15:00.000Z`
};

/// The unfinished uploads of an object and of all objects below it, or of a whole bucket.
/// threads  One at a time.
class UnfinishedUploads {
 public:
  virtual ~UnfinishedUploads() = default;
  UnfinishedUploads(const UnfinishedUploads&) = delete;
  UnfinishedUploads& operator=(const UnfinishedUploads&) = delete;

  /// Returns the uploads, the newest first.  errors  kSystem.
  virtual std::vector<UnfinishedUpload> list() = 0;
  /// Returns the time when the newest part of an upload was stored; empty if there is none, or if the server does not
  /// state times.
  /// errors  kSystem.
  virtual std::string last_change(const std::string& key, const std::string& id) = 0;
  /// Aborts an upload; ignores one that no longer exists.  errors  kSystem.
  virtual void abort(const std::string& key, const std::string& id) = 0;

 protected:
  UnfinishedUploads() = default;
};

/// Maximum number of parts, and the smallest size of all but the last one.
inline constexpr std::int64_t kMaxParts = 10'000;
inline constexpr std::int64_t kMinPartBytes = std::int64_t{8} << 20;

/// An upload. One process begins it and commits it, and any number of them send parts. Before commit() no reader finds
/// the object, and the former object of that name remains.
/// threads  One at a time.
class ObjectUpload {
 public:
  virtual ~ObjectUpload() = default;
  ObjectUpload(const ObjectUpload&) = delete;
  ObjectUpload& operator=(const ObjectUpload&) = delete;

  /// Begins the upload, and returns its name for join().  errors  kSystem.
  virtual std::string begin() = 0;
  /// Joins an upload that another process has begun.
  virtual void join(const std::string& id) = 0;
  /// Returns the unfinished uploads of this object, the newest first; empty if the server does not list them, or does
  /// not permit to list them.
  /// errors  kSystem.
  virtual std::vector<UnfinishedUpload> unfinished() { return {}; }
  /// Returns the parts of an unfinished upload by ascending numbers; empty if it no longer exists, or if the server
  /// does not permit to list them.
  /// errors  kSystem.
  virtual std::vector<StoredPart> stored_parts(const std::string& /*id*/) { return {}; }
  /// Returns true if a stored part is known to have these bytes.
  virtual bool has_bytes(const StoredPart& /*part*/, std::span<const std::byte> /*bytes*/) const { return false; }
  /// Sends a part, whose first byte is at `offset` of the object. At most kMaxPartsInFlight parts are in flight and in
  /// memory.
  /// errors  kSystem: this or an earlier part could not be sent.
  virtual void send(std::int64_t number, std::int64_t offset, std::vector<std::byte> bytes) = 0;
  /// Waits for the parts of this process, and returns them.  errors  kSystem.
  virtual std::vector<SentPart> finish() = 0;
  /// Makes the object appear. parts: all parts, by ascending numbers. Returns false without any change if the condition
  /// is not met.
  /// errors  kSystem.
  virtual bool commit(const std::vector<SentPart>& parts, const Condition& condition) = 0;
  /// Removes what was sent. If the server cannot be reached, it remains.
  virtual void abort() noexcept = 0;

  static constexpr std::size_t kMaxPartsInFlight = 4;

 protected:
  ObjectUpload() = default;
};

}  // namespace plait::store
