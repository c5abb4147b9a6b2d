/// What both ends of a connection say first, and how each proves that it knows the key.
///
///   client: Hello        server: Hello, Proof        client: Proof        server: kAcceptance, frames        client: frames
///
/// A proof is the HMAC-SHA-256 under the key of who proves and of both hellos.  The nonces make it good for this
/// connection only, and who proves is part of it: sent back to its sender it proves nothing.  A client counts on nothing
/// before it is accepted: a server that has many strangers lets go of those that are slow.  What follows is neither
/// encrypted nor signed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "transport/native/frame.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

/// Sent as it lies in memory.  Magic and version stay where they are in all versions, and so does the size.
struct Hello {
  static constexpr std::array<char, 8> kMagic{'\x93', 'P', 'L', 'A', 'I', 'T', '\r', '\n'};
  static constexpr std::uint32_t kOrder = 0x01020304;
  static constexpr std::uint8_t kVersion = 2;  ///< also of the bodies of frames

  std::array<char, 8> magic = kMagic;
  std::array<std::uint8_t, 4> version{kVersion};  ///< the first byte, that any byte order reads; the others are 0
  std::uint32_t order = kOrder;
  std::uint32_t head_bytes = sizeof(FrameHead);
  std::uint32_t unused = 0;
  std::uint64_t most_received = kMostReceived;
  std::array<std::byte, 32> nonce{};
};
static_assert(sizeof(Hello) == 64);

using Proof = std::array<std::byte, 32>;

/// What the server says to who has proved that it knows the key.
inline constexpr std::array<char, 8> kAcceptance{'a', 'c', 'c', 'e', 'p', 't', 'e', 'd'};

enum class Role : std::uint8_t { kClient, kServer };

/// What is wrong with a hello.
enum class HelloFault : std::uint8_t {
  kNone,
  kStranger,  ///< not of Plait
  kVersion,   ///< of another version, byte order or size
};

/// With a fresh nonce.  errors  kSystem: the system gives no random bytes.
Hello make_hello();
HelloFault fault_of(const Hello& hello);
/// What a kVersion is: for people.
std::string difference(const Hello& hello);
Proof prove(const Key& key, Role who, const Hello& client, const Hello& server);
/// Takes the same time wherever they differ.
bool same(const Proof& one, const Proof& other);

/// The server's side of it, without a socket.
class ServerHandshake {
 public:
  enum class Status : std::uint8_t {
    kMore,    ///< more bytes are to come, into room()
    kAnswer,  ///< answer() is to be sent, and more is to come
    kReject,  ///< the connection is to be closed
    kReport,  ///< the same, once answer() has been sent: it tells another version of Plait why
    kProved,
  };

  explicit ServerHandshake(const Key& key) : key_(key) {}
  /// For the next bytes; never empty while they are awaited.
  std::span<std::byte> room();
  /// So many bytes of room() have been filled.
  Status took(std::size_t bytes);
  std::span<const std::byte> answer() const { return answer_; }

 private:
  Status greet();

  Key key_;
  Hello client_{};
  Proof expected_{};
  Proof proof_{};
  bool greeted_ = false;
  std::size_t filled_ = 0;
  std::array<std::byte, sizeof(Hello) + sizeof(Proof)> answer_{};
};

/// The client's side of it, likewise.
class ClientHandshake {
 public:
  enum class Status : std::uint8_t {
    kMore,      ///< more bytes are to come, into room()
    kFailed,    ///< the connection is to be closed: code() and why() tell
    kProved,    ///< the server has: proof() is to be sent, and more is to come
    kAccepted,  ///< frames follow
  };

  /// errors  kSystem: the system gives no random bytes.
  explicit ClientHandshake(const Key& key) : key_(key), own_(make_hello()) {}
  std::span<const std::byte> hello() const { return std::as_bytes(std::span(&own_, 1)); }
  /// For the next bytes; never empty while they are awaited.
  std::span<std::byte> room();
  /// So many bytes of room() have been filled.
  Status took(std::size_t bytes);
  std::span<const std::byte> proof() const { return proof_; }
  int code() const { return code_; }
  const std::string& why() const { return why_; }

 private:
  Status failed(int code, std::string why);

  Key key_;
  Hello own_;
  Hello theirs_{};
  Proof proof_{};  // the server's, then this side's
  bool proved_ = false;
  std::array<char, kAcceptance.size()> accepted_{};
  std::size_t filled_ = 0;  // of theirs_ and, behind it, of the proof; once that is there, of accepted_
  int code_ = 0;
  std::string why_;
};

}  // namespace plait::transport::native
