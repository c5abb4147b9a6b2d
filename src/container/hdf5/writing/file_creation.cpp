// A new file on the rank that makes its metadata (create_file()), and on the other ranks (attach_file()).

#include "container/hdf5/writing/file_creation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "container/format_registry.hpp"
#include "container/hdf5/texts/heap_texts.hpp"
#include "container/hdf5/writing/new_chunks.hpp"
#include "container/hdf5/writing/new_content.hpp"
#include "container/hdf5/writing/new_hdf5_file.hpp"
#include "container/hdf5/writing/object_header.hpp"

namespace plait::container::hdf5 {

namespace {

/// The datasets in chunks and the texts of a new file. commit() writes the chunk indexes after all chunks.
class ChunkedDataset : public container::Dataset, public DeferredChanges {
 public:
  /// needs_counter: true if chunks or texts get their offsets in the order in which they are written.
  /// length_field: the offset of the field with the length of the file; 0 on ranks that do not have the metadata.
  ChunkedDataset(const NewContent& content, const std::shared_ptr<NewChunks>& chunks, bool needs_counter,
                 std::int64_t length_field)
      : container::Dataset(static_cast<const Content&>(content), chunks),
        chunks_(chunks),
        needs_counter_(needs_counter),
        length_field_(length_field) {
    set_texts(std::make_shared<HeapTexts>(
        chunks->file(), chunks->name(), 0, std::string(),
        [chunks](std::span<const std::byte> collection) { return chunks->append_heap(collection); }));
  }

  DeferredChanges* deferred_changes() override { return this; }
  bool needs_counter() const override { return needs_counter_; }
  void share(std::unique_ptr<transport::Counter> counter, bool is_only_writer) override {
    chunks_->share(std::move(counter), is_only_writer);
  }
  void commit() override { chunks_->finish(length_field_, needs_counter_); }

 private:
  std::shared_ptr<NewChunks> chunks_;
  bool needs_counter_;
  std::int64_t length_field_;
};

/// A new HDF5 file. encoded() passes to the other ranks what only the rank with the metadata knows.
class NewHdfFile : public container::NewFile {
 public:
  using container::NewFile::NewFile;

  std::string encoded() const override {
    std::vector<std::int64_t> offsets;
    std::vector<std::vector<std::byte>> fills;
    for (const Member& member : content().members) {
      offsets.push_back(member.data_offset);
      fills.push_back(member.type.has_texts() ? member.fill : std::vector<std::byte>());
    }
    return base::encode(content().file_bytes, offsets, fills);
  }
  std::unique_ptr<container::Dataset> dataset(std::shared_ptr<store::Store> store) const override {
    std::vector<NewDataset> chunked = make_chunked_datasets(content());
    const bool needs_counter = std::ranges::any_of(content().members, needs_log);
    if (chunked.empty() && !needs_counter) return NewFile::dataset(std::move(store));
    const auto chunks = std::make_shared<NewChunks>(std::move(store), std::move(chunked), content().file_bytes);
    return std::make_unique<ChunkedDataset>(
        content(), chunks, needs_counter,
        content().head.empty() ? 0 : find_length_field(content().head, chunks->name()));
  }
};

}  // namespace

std::unique_ptr<container::NewFile> create_file(const std::string& path, const FileOptions& options) {
  NewContent content = make_new_content(path, options);
  NewFile file = make_file({std::string(array_name(path).file), content.members, options.groups, options.library_copies,
                            is_netcdf_name(path)});
  assign_offsets(content, static_cast<std::int64_t>(file.head.size()));
  for (std::size_t i = 0; i < content.members.size(); ++i) {
    Member& member = content.members[i];
    if (!file.text_fills[i].empty()) member.fill = file.text_fills[i];
    member.address_field = file.address_fields[i];
    if (!member.in_chunks() && member.data_offset != 0)
      put_number(file.head, member.address_field, static_cast<std::uint64_t>(member.data_offset));
  }
  put_number(file.head, find_length_field(file.head, path), static_cast<std::uint64_t>(content.file_bytes));
  write_filled_scalars(content, file.head);
  content.head = std::move(file.head);
  return std::make_unique<NewHdfFile>(std::move(content));
}

std::unique_ptr<container::NewFile> attach_file(const std::string& path, const FileOptions& options,
                                                std::string_view encoded) {
  NewContent content = make_new_content(path, options);
  std::vector<std::int64_t> offsets;
  std::vector<std::vector<std::byte>> fills;
  base::decode(encoded, base::kAnotherRank, content.file_bytes, offsets, fills);
  offsets.resize(content.members.size());
  fills.resize(content.members.size());
  for (std::size_t i = 0; i < fills.size(); ++i)
    if (!fills[i].empty()) content.members[i].fill = std::move(fills[i]);
  set_offsets(content, offsets);
  return std::make_unique<NewHdfFile>(std::move(content));
}

}  // namespace plait::container::hdf5
