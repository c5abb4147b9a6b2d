#include "transport/native/hello.hpp"

#include <sodium.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "transport/native/random.hpp"

namespace plait::transport::native {

namespace {

/// Converts a pointer for libsodium.
const unsigned char* to_chars(const void* bytes) { return static_cast<const unsigned char*>(bytes); }

}  // namespace

Hello make_hello() {
  Hello hello;
  fill_random(hello.nonce);
  return hello;
}

HelloFault find_fault(const Hello& hello) {
  if (hello.magic != Hello::kMagic) return HelloFault::kOtherProgram;
  const Hello own;
  const bool is_compatible = hello.version == own.version && hello.order == own.order &&
                             hello.frame_head_bytes == own.frame_head_bytes && hello.unused == own.unused &&
                             hello.max_received == own.max_received;
  return is_compatible ? HelloFault::kNone : HelloFault::kVersion;
}

std::string describe_difference(const Hello& hello) {
  const Hello own;
  if (hello.version != own.version)
    return base::text("it speaks version ", std::uint32_t{hello.version[0]}, " of the protocol, this process version ",
                      std::uint32_t{own.version[0]}, "; use the same Plait in both programs");
  if (hello.order != own.order) return "it has the other byte order; use machines of the same byte order";
  return base::text("its frames differ: heads of ", hello.frame_head_bytes, " bytes and bodies of ", hello.max_received,
                    " bytes, here ", own.frame_head_bytes, " and ", own.max_received,
                    "; use the same Plait in both programs");
}

Proof prove(const Key& key, Role who, const Hello& client, const Hello& server) {
  const std::string_view label = who == Role::kClient ? "plait client" : "plait server";
  Proof proof;
  static_assert(sizeof(Proof) == crypto_auth_hmacsha256_BYTES && Key::kBytes == crypto_auth_hmacsha256_KEYBYTES);
  crypto_auth_hmacsha256_state state;
  ::crypto_auth_hmacsha256_init(&state, to_chars(key.bytes().data()), Key::kBytes);
  ::crypto_auth_hmacsha256_update(&state, to_chars(label.data()), label.size());
  ::crypto_auth_hmacsha256_update(&state, to_chars(&client), sizeof client);
  ::crypto_auth_hmacsha256_update(&state, to_chars(&server), sizeof server);
  ::crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(proof.data()));
  return proof;
}

bool are_equal(const Proof& first, const Proof& second) {
  return ::sodium_memcmp(first.data(), second.data(), sizeof(Proof)) == 0;
}

std::span<std::byte> ServerHandshake::input_space() {
  const auto whole = has_hello_ ? std::span<std::byte>(proof_) : std::as_writable_bytes(std::span(&client_, 1));
  return whole.subspan(filled_);
}

ServerHandshake::Status ServerHandshake::process_input(std::size_t bytes) {
  filled_ += bytes;
  // Reject other protocols at their first bytes, without waiting for a whole hello.
  const std::size_t magic_bytes = std::min(filled_, Hello::kMagic.size());
  if (!has_hello_ && std::memcmp(client_.magic.data(), Hello::kMagic.data(), magic_bytes) != 0) return Status::kReject;
  if (!input_space().empty()) return Status::kMore;
  if (!has_hello_) return greet();
  return are_equal(proof_, expected_) ? Status::kProved : Status::kReject;
}

ServerHandshake::Status ServerHandshake::greet() {
  has_hello_ = true;
  filled_ = 0;
  const Hello own = make_hello();
  const bool fits = find_fault(client_) == HelloFault::kNone;
  // A proof over a hello of another version would have no defined meaning.
  const Proof proof = fits ? prove(key_, Role::kServer, client_, own) : Proof{};
  expected_ = prove(key_, Role::kClient, client_, own);
  std::memcpy(answer_.data(), &own, sizeof own);
  std::memcpy(answer_.data() + sizeof own, proof.data(), sizeof proof);
  return fits ? Status::kAnswer : Status::kReport;
}

// Read the magic separately: another program may send less than a whole hello, and the client would wait for the rest.
std::span<std::byte> ClientHandshake::input_space() {
  if (server_proved_) return std::as_writable_bytes(std::span(acceptance_)).subspan(filled_);
  const auto hello = std::as_writable_bytes(std::span(&server_, 1));
  if (filled_ < Hello::kMagic.size()) return hello.first(Hello::kMagic.size()).subspan(filled_);
  if (filled_ < sizeof(Hello)) return hello.subspan(filled_);
  return std::span<std::byte>(proof_).subspan(filled_ - sizeof(Hello));
}

ClientHandshake::Status ClientHandshake::process_input(std::size_t bytes) {
  filled_ += bytes;
  if (server_proved_) {
    if (!input_space().empty()) return Status::kMore;
    return acceptance_ == kAcceptance ? Status::kAccepted
                                      : failed(EPROTO, "the server there does not go on as Plait does");
  }
  if (filled_ < Hello::kMagic.size()) return Status::kMore;
  if (server_.magic != Hello::kMagic) return failed(EACCES, "something else than Plait listens there");
  if (filled_ < sizeof(Hello)) return Status::kMore;
  if (find_fault(server_) == HelloFault::kVersion) return failed(EPROTO, describe_difference(server_));
  if (filled_ < sizeof(Hello) + sizeof(Proof)) return Status::kMore;
  if (!are_equal(proof_, prove(key_, Role::kServer, own_, server_)))
    return failed(EACCES, "the server there has another key: it is not the one that was meant");
  proof_ = prove(key_, Role::kClient, own_, server_);
  server_proved_ = true;
  filled_ = 0;
  return Status::kProved;
}

ClientHandshake::Status ClientHandshake::failed(int code, std::string why) {
  code_ = code;
  why_ = std::move(why);
  return Status::kFailed;
}

}  // namespace plait::transport::native
