/// The writing end of a pipe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/file/channel.hpp"
#include "core/file/source.hpp"
#include "pipe/meeting_file.hpp"
#include "pipe/options.hpp"
#include "pipe/writer/control.hpp"
#include "pipe/writer/service.hpp"
#include "pipe/writer/step_store.hpp"
#include "plait/layout.hpp"
#include "transport/native/server.hpp"

namespace plait::pipe {

/// One process of a writer.
///
/// A written array is copied once, into memory of this process.  Readers on the same host read it there, and the server
/// sends it to readers on other hosts.  Processes synchronize only at the beginning and the end of each step.
class Writer : public core::Channel {
 public:
  /// Registers the name and waits for readers.  Collective.  holds_all_ranks: true if this process is the only one and
  /// writes the arrays of all ranks.
  /// errors  The same on every rank: as MeetingFile, Server and WriterControl::wait_for_readers().
  Writer(collective::Collective& call, const std::string& url, const Options& options, const ArrayType& type,
         bool holds_all_ranks);
  ~Writer() override;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::optional<Step> begin_step(collective::Collective& call, const Attributes& attributes) override;
  void move(collective::Collective& call, const core::Transfer& transfer) override;
  void end_step(collective::Collective& call, bool keep) override;
  std::optional<ArrayType> find(const std::string& variable) const override;
  std::string explain(const core::Transfer& transfer) const override;

  /// Waits until all steps have been read.  Collective.  errors  The same on every rank.
  void finish(collective::Collective& call);
  /// Announces to the readers that the writer has failed, unless finish() was called.
  void abort(const std::string& why) noexcept override;

 private:
  const std::string url_;
  const Options options_;
  const bool is_first_rank_;
  std::shared_ptr<StepStore> steps_;
  std::shared_ptr<WriterControl> control_;  // on rank 0
  std::shared_ptr<WriterService> service_;
  std::unique_ptr<transport::native::Server> server_;
  std::unique_ptr<MeetingFile> meeting_;  // on rank 0
  StepDescription step_;
  // The last written layout and its text, so that equal layouts are formatted only once.
  std::optional<std::pair<Layout, std::string>> last_layout_;
  bool is_over_ = false;
};

}  // namespace plait::pipe
