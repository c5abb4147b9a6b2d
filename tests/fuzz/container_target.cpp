// Reads any bytes as files, Zarr metadata, chunks and indices, and checks what the library returns for them.
#include "container_target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "codec/codecs.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/codecs/basic.hpp"
#include "container/hdf5/codecs/szip.hpp"
#include "container/hdf5/dataset.hpp"
#include "container/netcdf/netcdf_format.hpp"
#include "container/npz/npz_format.hpp"
#include "container/safetensors/safetensors_format.hpp"
#include "container/zarr/chunks/shard_index.hpp"
#include "container/zarr/metadata.hpp"
#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"
#include "store/objects/memory/memory_objects.hpp"

namespace plait::fuzz {

namespace {

using container::Content;
using container::Format;
using container::Member;
using store::memory::MemoryStore;

constexpr std::size_t kMaxOpenedArrays = 8;  // of one file
constexpr std::int64_t kMaxReadBytes = std::int64_t{64} << 10;

/// Aborts the program, which counts as a failure, if a condition does not hold.
void demand_of_file(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: file: %s\n", what);
  std::abort();
}

std::shared_ptr<MemoryStore> to_store(std::string_view bytes) {
  auto store = std::make_shared<MemoryStore>(static_cast<std::int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(store->bytes().data(), bytes.data(), bytes.size());
  return store;
}

/// Reads the first elements of an array.
std::vector<std::byte> read_data(store::Store& store, const Content& content) {
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(std::min(kMaxReadBytes, content.bytes() - content.data_offset)));
  store.read({{content.data_offset, bytes.data(), static_cast<std::int64_t>(bytes.size())}});
  return bytes;
}

/// Returns the message of the error that a call throws; empty if it throws none.
template <typename Call>
std::string catch_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    demand_of_file(error.what()[0] != '\0', "an error says nothing");
    return error.what();
  }
  return {};
}

/// Opens an array as the first rank does, and as another rank does that has received the description of the dataset.
void open_array(const Format& format, const std::shared_ptr<MemoryStore>& file, const std::string& path) {
  (void)catch_error([&] {
    const std::unique_ptr<container::Dataset> dataset = format.open(file, path)->dataset({});
    const Content& content = dataset->content();
    container::check_size(content, dataset->store()->size(), path, {}, format.traits().states_type);
    demand_of_file(content.data_offset >= 0 && content.bytes() >= content.data_offset, "an array of less than nothing");
    // Only the elements themselves can still be damaged; then both datasets must fail with the same error.
    const std::unique_ptr<container::Dataset> other = format.attach(content, file, path, dataset->encoded());
    std::vector<std::byte> bytes;
    std::vector<std::byte> other_bytes;
    const std::string error = catch_error([&] { bytes = read_data(*dataset->store(), content); });
    const std::string other_error = catch_error([&] { other_bytes = read_data(*other->store(), content); });
    demand_of_file(error == other_error && bytes == other_bytes, "another rank reads something else");
  });
}

/// Opens the bytes as a file of a format, and reads its arrays.
void run_format(const Format& format, std::string_view bytes) {
  const std::shared_ptr<MemoryStore> file = to_store(bytes);
  const std::string name = "input" + std::string(format.traits().suffix);
  (void)format.has_signature(std::as_bytes(std::span(bytes)).first(std::min(bytes.size(), container::kHeaderBytes)));
  std::vector<Member> members;
  const std::string error = catch_error([&] { members = format.open(file, name)->arrays(); });
  demand_of_file(error.empty() || error.find(name) != std::string::npos, "an error names no file");
  // Each array needs some bytes of the header.
  demand_of_file(members.size() <= bytes.size(), "more arrays than the bytes can hold");
  open_array(format, file, name);
  for (std::size_t i = 0; i < std::min(members.size(), kMaxOpenedArrays); ++i)
    open_array(format, file, name + "::" + members[i].name);
}

/// Returns the bytes of files with one array and with three.
std::vector<std::string> make_valid_files(const Format& format) {
  std::vector<std::string> all;
  for (const std::size_t count : {1, 3}) {
    FileOptions options;
    const std::vector<ArrayDescription> arrays{{{}, "a", {{3, 4}, "<f4", 4, Order::kC}},
                                               {{}, "empty/b", {{0, 2}, "|u1", 1, Order::kC}},
                                               {{}, "c", {{}, "<i8", 8, Order::kC}}};
    options.arrays.assign(arrays.begin(), arrays.begin() + static_cast<std::ptrdiff_t>(count));
    const auto new_file = format.create("input" + std::string(format.traits().suffix), options);
    const auto store = std::make_shared<MemoryStore>(new_file->content().file_bytes);
    std::ranges::copy(new_file->content().head, store->bytes().begin());
    const std::unique_ptr<container::Dataset> dataset = new_file->dataset(store);
    if (dataset->deferred_changes() != nullptr) dataset->deferred_changes()->commit();
    all.emplace_back(reinterpret_cast<const char*>(store->bytes().data()), store->bytes().size());
  }
  return all;
}

void run_zarr(std::string_view bytes) {
  using namespace container::zarr;
  const std::string name = "input.zarr/zarr.json";
  const std::string error = catch_error([&] {
    (void)is_group(bytes, name);
    const Metadata metadata = parse_metadata(bytes, name);
    std::int64_t total_bytes = metadata.chunk_bytes;
    demand_of_file(metadata.grid.size() == metadata.type.shape.size() && metadata.chunk.size() == metadata.grid.size(),
                   "dimensions that differ");
    for (const std::int64_t chunks : metadata.grid)
      demand_of_file(chunks >= 0 && !__builtin_mul_overflow(total_bytes, chunks, &total_bytes),
                     "more bytes than there are");
    demand_of_file(static_cast<std::int64_t>(metadata.fill.size()) == metadata.type.element_bytes, "half an element");
  });
  demand_of_file(error.empty() || error.find(name) != std::string::npos, "an error names no file");
}

/// The first byte states the codecs of a chunk; the encoded chunk follows.
void run_zarr_chunk(std::string_view bytes) {
  if (bytes.empty()) return;
  constexpr std::size_t kChunkBytes = 96;
  constexpr int kChains = 5;
  std::vector<std::byte> chunk(kChunkBytes);  // on the heap, so that the sanitizer detects writes past its end
  const int chain_number = static_cast<unsigned char>(bytes.front()) % kChains;
  std::vector<std::shared_ptr<const codec::Codec>> codecs;
  if (chain_number == 0 || chain_number == 4) codecs.push_back(codec::gzip(1));
  if (chain_number == 1) codecs.push_back(codec::zlib(1));
  if (chain_number == 2) codecs.push_back(codec::zstd(1));
  if (chain_number >= 3) codecs.push_back(codec::crc32c());
  const codec::Chain chain(std::move(codecs));
  const std::string error =
      catch_error([&] { chain.decode(std::as_bytes(std::span(bytes.substr(1))), chunk, "the chunk input.zarr/c/0"); });
  demand_of_file(error.empty() || error.find("input.zarr/c/0") != std::string::npos, "an error names no file");
}

/// The first byte states three filters of a chunk, two bits for each. If it states none, four values of szip follow.
/// Then the encoded chunk follows.
void run_hdf5_chunk(std::string_view bytes) {
  using namespace container::hdf5;
  if (bytes.empty()) return;
  constexpr std::size_t kChunkBytes = 96;
  constexpr int kCodecs = 3;
  std::vector<std::byte> chunk(kChunkBytes);
  int filters = static_cast<unsigned char>(bytes.front());
  std::vector<std::shared_ptr<const codec::Codec>> codecs;
  for (int i = 0; i < kCodecs; ++i, filters /= 4) {
    if (filters % 4 == 1) codecs.push_back(lzf());
    if (filters % 4 == 2) codecs.push_back(fletcher32());
    if (filters % 4 == 3) codecs.push_back(shuffle(1 + static_cast<std::size_t>(filters) % 9));
  }
  constexpr std::size_t kSzipValues = 4;
  if (codecs.empty() && bytes.size() > kSzipValues) {
    std::vector<std::uint32_t> values;
    for (const char value : bytes.substr(1, kSzipValues)) values.push_back(static_cast<unsigned char>(value));
    codecs.push_back(szip(values));
    bytes.remove_prefix(kSzipValues);
  }
  const codec::Chain chain(std::move(codecs));
  const std::string error =
      catch_error([&] { chain.decode(std::as_bytes(std::span(bytes.substr(1))), chunk, "chunk (0) of input.h5"); });
  demand_of_file(error.empty() || error.find("input.h5") != std::string::npos, "an error names no file");
}

/// The description of a dataset that another rank has sent.
void run_hdf5_description(std::string_view bytes) {
  using namespace container::hdf5;
  (void)catch_error([&] {
    const HdfDataset dataset = decode_dataset(bytes);
    const std::string encoded = encode_dataset(dataset);
    demand_of_file(encode_dataset(decode_dataset(encoded)) == encoded,
                   "a dataset changes when it is encoded and decoded");
  });
}

std::vector<std::string> valid_descriptions() {
  using namespace container::hdf5;
  HdfDataset dataset;
  dataset.type = {{40, 30}, "<f4", 4, Order::kC};
  dataset.fill.resize(4);
  dataset.storage = Storage::kChunks;
  dataset.chunk = {7, 9};
  dataset.filters = {{2, {4}, "shuffle"}, {1, {6}, "deflate"}};
  dataset.chunks = {{0, 4096, 100, 0}, {1, 4196, 252, 3}, {5, 2048, 90, 0}};
  return {encode_dataset(dataset)};
}

/// The first byte states the number of chunks in the shard and the codec of its index; a whole shard follows.
void run_zarr_shard(std::string_view bytes) {
  using namespace container::zarr;
  if (bytes.empty()) return;
  constexpr std::int64_t kMaxChunks = 9;
  const auto first = static_cast<unsigned char>(bytes.front());
  Shards shards;
  shards.count = 1 + first % kMaxChunks;
  shards.index_at_end = first % 2 == 0;
  if (first >= 128) shards.index = codec::Chain({codec::crc32c()});
  shards.index_bytes =
      static_cast<std::int64_t>(*shards.index.fixed_encoded_bytes(16 * static_cast<std::size_t>(shards.count)));
  store::memory::MemoryObjects objects(std::make_shared<store::memory::Bucket>(), "memory", false);
  objects.put("c/0", std::as_bytes(std::span(bytes.substr(1))));
  const std::string error = catch_error([&] {
    const std::vector<ShardEntry> entries = read_index(shards, objects, "c/0")->entries;
    demand_of_file(static_cast<std::int64_t>(entries.size()) == shards.count, "more chunks than a shard has");
    for (const ShardEntry& entry : entries)
      demand_of_file(!entry.exists() || entry.offset + entry.bytes <= bytes.size() - 1, "a chunk outside of its shard");
    const std::vector<std::byte> encoded = encode_index(shards, entries);
    demand_of_file(static_cast<std::int64_t>(encoded.size()) == shards.index_bytes, "an index of another size");
  });
  demand_of_file(error.empty() || error.find("memory/c/0") != std::string::npos, "an error names no file");
}

std::vector<std::string> valid_zarr() {
  return {R"({"zarr_format":3,"node_type":"array","shape":[13,7],"data_type":"float32","chunk_grid":{"name":"regular",)"
          R"("configuration":{"chunk_shape":[4,3]}},"chunk_key_encoding":{"name":"default","configuration":)"
          R"({"separator":"/"}},"fill_value":"NaN","codecs":[{"name":"bytes","configuration":{"endian":"big"}},)"
          R"({"name":"zstd","configuration":{"level":0}}],"attributes":{}})",
          R"({"zarr_format":2,"shape":[5],"chunks":[2],"dtype":"<c8","compressor":{"id":"gzip","level":1},)"
          R"("fill_value":[0.5,-1],"order":"F","filters":null,"dimension_separator":"."})",
          R"({"zarr_format":3,"node_type":"group","attributes":{}})"};
}

void run_npz(std::string_view bytes) { run_format(container::npz::format(), bytes); }
void run_safetensors(std::string_view bytes) { run_format(container::safetensors::format(), bytes); }
void run_netcdf(std::string_view bytes) { run_format(container::netcdf::format(), bytes); }
std::vector<std::string> valid_npz() { return make_valid_files(container::npz::format()); }
std::vector<std::string> valid_safetensors() { return make_valid_files(container::safetensors::format()); }
std::vector<std::string> valid_shards() {
  using namespace container::zarr;
  std::vector<std::string> all;
  for (const unsigned first : {2U, 3U, 128U, 137U}) {
    Shards shards;
    shards.count = 1 + first % 9;
    if (first >= 128) shards.index = codec::Chain({codec::crc32c()});
    std::vector<ShardEntry> entries(static_cast<std::size_t>(shards.count));
    entries.front() = {300, 5};
    const std::vector<std::byte> index = encode_index(shards, entries);
    const std::string index_text(reinterpret_cast<const char*>(index.data()), index.size());
    const std::string chunks(400, 'x');
    std::string& shard = all.emplace_back(1, static_cast<char>(first));
    shard.append(first % 2 == 0 ? chunks : index_text).append(first % 2 == 0 ? index_text : chunks);
  }
  return all;
}
/// For kinds whose valid inputs are in the folder `corpus`, written by other programs.
std::vector<std::string> inputs_in_corpus_only() { return {}; }

}  // namespace

std::vector<MessageKind> file_kinds() {
  return {{"npz", run_npz, valid_npz},
          {"safetensors", run_safetensors, valid_safetensors},
          {"netcdf", run_netcdf, inputs_in_corpus_only},
          {"zarr", run_zarr, valid_zarr},
          {"zarr-chunk", run_zarr_chunk, inputs_in_corpus_only},
          {"zarr-shard", run_zarr_shard, valid_shards},
          {"hdf5-chunk", run_hdf5_chunk, inputs_in_corpus_only},
          {"hdf5-description", run_hdf5_description, valid_descriptions}};
}

}  // namespace plait::fuzz
