/// The writing end of a pipe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/file/channel.hpp"
#include "core/file/source.hpp"
#include "pipe/meeting.hpp"
#include "pipe/options.hpp"
#include "pipe/writer/control.hpp"
#include "pipe/writer/service.hpp"
#include "pipe/writer/step_store.hpp"
#include "plait/layout.hpp"
#include "transport/native/server.hpp"

namespace plait::pipe {

/// One process of it.
///
/// What is written is copied once, into memory of this process which readers of the same host read from; its server
/// sends it to readers on others.  Processes meet at the beginning and the end of each step, and nowhere else.
class Writer : public core::Channel {
 public:
  /// Takes the name, and waits for readers.  Collective.  errors  The same on every rank: as MeetingFile, Server and
  /// WriterControl::wait_for_readers().
  Writer(collective::Collective& call, const std::string& shown, const Options& options, const ArrayType& type,
         bool alone);
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
  /// Tells the readers that no more will come, and why, unless finish() has been called.
  void abort(const std::string& why) noexcept override;

 private:
  void meet(collective::Collective& call);

  const std::string shown_;
  const Options options_;
  const bool first_;
  std::shared_ptr<StepStore> steps_;
  std::shared_ptr<WriterControl> control_;  // of rank 0
  std::shared_ptr<WriterService> service_;
  std::unique_ptr<transport::native::Server> server_;
  std::unique_ptr<MeetingFile> meeting_;  // of rank 0
  StepDescription step_;
  std::optional<std::pair<Layout, std::string>> spelled_;  // the layout that was written last
  bool over_ = false;
};

}  // namespace plait::pipe
