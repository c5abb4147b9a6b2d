// The entry of a fuzzing program: passes each input to the selected kind of message.
#include "target.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "received.hpp"

namespace plait::fuzz {

namespace {

const MessageKind* selected = nullptr;

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const MessageKind& kind : message_kinds()) all.emplace_back(kind.name);
  return all;
}

bool select_kind(std::string_view name) {
  selected = nullptr;
  for (const MessageKind& kind : message_kinds())
    if (kind.name == name) selected = &kind;
  return selected != nullptr;
}

}  // namespace plait::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (plait::fuzz::selected == nullptr) {
    std::fprintf(stderr, "fuzz: no reader was chosen\n");
    std::abort();
  }
  plait::fuzz::selected->run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i)
    if (std::strncmp((*arguments)[i], "-format=", 8) == 0 && plait::fuzz::select_kind((*arguments)[i] + 8)) return 0;
  std::fprintf(stderr, "fuzz: say which reader to run, as in -format=1992\n");
  std::exit(2);
}
