#include <zstd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "codec/codecs.hpp"

namespace plait::codec {

namespace {

/// The levels of a codec that users may choose.
struct CodecLevels {
  std::string_view name;
  int min_level;
  int max_level;
  int default_level;  ///< the level if the user specifies none
};

std::array<CodecLevels, 5> codec_levels() {
  return {CodecLevels{"gzip", 0, 9, 5}, CodecLevels{"zlib", 0, 9, 5},
          CodecLevels{"zstd", ZSTD_minCLevel(), ZSTD_maxCLevel(), 3}, CodecLevels{"blosc", 0, 9, 5},
          CodecLevels{"blosc-zstd", 0, 9, 5}};
}

[[noreturn]] void throw_unknown_codec(std::string_view text) {
  base::throw_argument_error(
      "codec \"", text,
      "\" is not known; use \"none\", \"zstd\", \"gzip\", \"blosc\" or \"blosc-zstd\", with a level "
      "behind a colon where it is to be another one, as in \"zstd:3\"");
}

}  // namespace

Spec parse_spec(std::string_view text) {
  if (text == "none") return {std::string(text), 0};
  const std::string_view name = text.substr(0, text.find(':'));
  const auto levels = codec_levels();
  const auto* entry = std::ranges::find(levels, name, &CodecLevels::name);
  if (entry == levels.end()) throw_unknown_codec(text);
  Spec spec{std::string(name), entry->default_level};
  if (name.size() == text.size()) return spec;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + name.size() + 1, last, spec.level);
  if (error != std::errc() || end != last) throw_unknown_codec(text);
  if (spec.level < entry->min_level || spec.level > entry->max_level)
    base::throw_argument_error("codec \"", text, "\": the level of ", name, " is from ", entry->min_level, " to ",
                               entry->max_level, "; give one of these");
  return spec;
}

std::optional<std::string> Spec::blosc_compressor() const {
  if (name == "blosc") return "lz4";
  if (name == "blosc-zstd") return "zstd";
  return std::nullopt;
}

std::shared_ptr<const Codec> Spec::codec() const {
  if (name == "gzip") return gzip(level);
  if (name == "zlib") return zlib(level);
  if (name == "zstd") return zstd(level);
  if (const auto compressor = blosc_compressor()) return blosc({*compressor, level});
  throw_unknown_codec(name);
}

}  // namespace plait::codec
