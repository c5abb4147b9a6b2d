/// The handshake of a connection: both ends prove that they know the key.
///
///   client -> server   Hello
///   server -> client   Hello, Proof
///   client -> server   Proof
///   server -> client   kAcceptance; then both send frames
///
/// A proof is the HMAC-SHA-256, under the key, of the sender's role and of both hellos.  The random numbers (nonces) in
/// the hellos make it valid for this connection only.  With the role in it, an end does not accept its own proof if the
/// peer sends it back.  A client must wait for the acceptance, because a server with many unauthenticated connections
/// closes slow ones.  The frames that follow are neither encrypted nor signed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "transport/native/frame.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

/// The first message of each end, sent as it is in memory.  Its size, and the offsets of magic and version, are the
/// same in all versions.
struct Hello {
  static constexpr std::array<char, 8> kMagic{'\x93', 'P', 'L', 'A', 'I', 'T', '\r', '\n'};
  static constexpr std::uint32_t kOrder = 0x01020304;
  static constexpr std::uint8_t kVersion = 2;  ///< version of the handshake and of the bodies of frames

  std::array<char, 8> magic = kMagic;
  std::array<std::uint8_t, 4> version{kVersion};  ///< the first byte, readable in any byte order; the others are 0
  std::uint32_t order = kOrder;
  std::uint32_t frame_head_bytes = sizeof(FrameHead);
  std::uint32_t unused = 0;
  std::uint64_t max_received = kMaxReceive;
  std::array<std::byte, 32> nonce{};
};
static_assert(sizeof(Hello) == 64);

using Proof = std::array<std::byte, 32>;

/// The server sends this when the proof of the client is correct.
inline constexpr std::array<char, 8> kAcceptance{'a', 'c', 'c', 'e', 'p', 't', 'e', 'd'};

enum class Role : std::uint8_t { kClient, kServer };

/// The reason why a hello is not accepted.
enum class HelloFault : std::uint8_t {
  kNone,
  kOtherProgram,  ///< the sender is not Plait
  kVersion,       ///< the sender has another version, byte order or frame size
};

/// Returns a hello with a new nonce.  errors  kSystem: the system gives no random bytes.
Hello make_hello();
/// Returns why this process does not accept a hello, or kNone.
HelloFault find_fault(const Hello& hello);
/// Describes how a hello with the fault kVersion differs, for messages.
std::string describe_difference(const Hello& hello);
/// Returns the proof of one role for a pair of hellos.
Proof prove(const Key& key, Role who, const Hello& client, const Hello& server);
/// Compares in constant time, so that the time does not reveal how many bytes are equal.
bool are_equal(const Proof& first, const Proof& second);

/// The server's side of the handshake, without a socket.
class ServerHandshake {
 public:
  enum class Status : std::uint8_t {
    kMore,    ///< read more bytes into input_space()
    kAnswer,  ///< send answer(), and read more bytes
    kReject,  ///< close the connection
    kReport,  ///< send answer(), from which a client of another version sees the reason, and close the connection
    kProved,  ///< send kAcceptance: the client knows the key
  };

  explicit ServerHandshake(const Key& key) : key_(key) {}
  /// Memory for the next bytes; empty only if no more are expected.
  std::span<std::byte> input_space();
  /// Processes `bytes` bytes that have been read into input_space().
  Status process_input(std::size_t bytes);
  std::span<const std::byte> answer() const { return answer_; }

 private:
  Status greet();

  Key key_;
  Hello client_{};
  Proof expected_{};
  Proof proof_{};
  bool has_hello_ = false;  // the client's hello has arrived, and answer_ is set
  std::size_t filled_ = 0;
  std::array<std::byte, sizeof(Hello) + sizeof(Proof)> answer_{};
};

/// The client's side of the handshake, without a socket.
class ClientHandshake {
 public:
  enum class Status : std::uint8_t {
    kMore,      ///< read more bytes into input_space()
    kFailed,    ///< close the connection; code() and why() have the reason
    kProved,    ///< the server knows the key: send proof(), and read more bytes
    kAccepted,  ///< the handshake is done
  };

  /// errors  kSystem: the system gives no random bytes.
  explicit ClientHandshake(const Key& key) : key_(key), own_(make_hello()) {}
  std::span<const std::byte> hello() const { return std::as_bytes(std::span(&own_, 1)); }
  /// Memory for the next bytes; empty only if no more are expected.
  std::span<std::byte> input_space();
  /// Processes `bytes` bytes that have been read into input_space().
  Status process_input(std::size_t bytes);
  std::span<const std::byte> proof() const { return proof_; }
  int code() const { return code_; }
  const std::string& why() const { return why_; }

 private:
  Status failed(int code, std::string why);

  Key key_;
  Hello own_;
  Hello server_{};
  Proof proof_{};  // first the server's proof, then the client's
  bool server_proved_ = false;
  std::array<char, kAcceptance.size()> acceptance_{};
  std::size_t filled_ = 0;  // bytes received of server_ and then of proof_; after the server's proof, of acceptance_
  int code_ = 0;
  std::string why_;
};

}  // namespace plait::transport::native
