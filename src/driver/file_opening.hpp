/// The interface through which a driver opens a File.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "container/format.hpp"
#include "container/format_registry.hpp"
#include "core/file/file_impl.hpp"
#include "driver/driver.hpp"

namespace plait::driver {

/// Describes the content of a new store of that name, without creating it.
/// errors  kArgument: options that are missing or invalid, or that a file of this name does not have.
std::unique_ptr<container::NewFile> describe_new_file(const std::string& name, driver::Contents contents,
                                                      FileOptions options);

/// Returns true if `name` is that of an array in a file of several arrays, `FILE::NAME`, and `store`, which is that
/// file, lacks this array and can get it.
/// errors  kSystem.
bool lacks_array(const std::string& name, const std::shared_ptr<store::Store>& store);

/// Determines the format of a store's bytes, and passes the array in them to the File that is being opened.
class FileOpening : public driver::Opening {
 public:
  /// access: the access options that rank 0 has determined; ignored on other ranks.
  FileOpening(File::Impl& file, const FileOptions& options, collective::Collective& call, driver::Contents contents,
              plan::AccessOptions access);

  const std::string& name() const override { return file_.context().path(); }
  Mode mode() const override { return file_.context().mode(); }
  const Comm& comm() const override { return file_.context().comm(); }
  collective::Collective& call() const override { return call_; }
  store::NewFileOptions make() override;
  void inspect(const std::shared_ptr<store::Store>& store) override;
  std::string encode() const override;
  void adopt(const std::string& encoded, const core::Source& source) override;
  const FileOptions& options() const override { return options_; }
  void adopt(const ArrayType& type) override { file_.set_type(type, options_.several); }
  /// Creates the counter by which ranks agree on chunk counts, if the format needs one.  Collective, after all ranks
  /// have opened the file.
  void share();

 private:
  /// Returns the options of a new file. `durable` is always set in them, from the environment if the caller left it
  /// out.
  FileOptions new_file_options() const;
  /// Returns the format of the store. `header` becomes its first bytes if they had to be read, so that they are not
  /// read again.
  const container::Format& detect_format(store::Store& store, std::optional<container::FileHeader>& header) const;
  /// Returns true if the caller describes raw elements: the name has no known suffix, and shape and type match the
  /// file's size.
  bool is_described_as_raw(store::Store& store) const;
  /// Decodes the result that rank 0 has encoded.  Returns the part that the format has encoded.
  std::string decode(const std::string& encoded);
  /// Opens the array that rank 0 has found or described, on another rank.
  std::unique_ptr<container::Dataset> attach(std::shared_ptr<store::Store> store, std::string_view encoded);
  /// errors  As OpenedFile::dataset(), with a description of the bytes if they are not an array.
  void open_dataset(const std::shared_ptr<store::Store>& store);
  /// Returns true if the array is added to an existing file.
  bool adds_array() const { return mode() == Mode::kAppend && options_.shape.has_value(); }
  /// errors  kArgument: the array cannot grow.  kSystem: another program appends to it.
  void begin_shape_changes();
  [[noreturn]] void throw_cannot_grow() const;
  /// Throws `error`; if the bytes in the store have another format or describe another store, with this explanation.
  [[noreturn]] void throw_with_explanation(const Error& error, store::Store& store) const;

  File::Impl& file_;
  const FileOptions& options_;
  collective::Collective& call_;
  driver::Contents contents_;
  plan::AccessOptions access_;
  const container::Format* format_ = nullptr;
  container::Content content_;
  std::unique_ptr<container::NewFile> new_file_;  ///< mode `w`
  std::unique_ptr<container::Dataset> dataset_;   ///< until the File owns it
};

}  // namespace plait::driver
