// The status of pipes, for programs that observe them: finds the writer by its meeting file and asks it.

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "pipe/meeting_file.hpp"
#include "pipe/messages.hpp"
#include "pipe/options.hpp"
#include "pipe/protocol.hpp"
#include "pipe/reader/partners.hpp"
#include "plait/error.hpp"
#include "plait/pipe.hpp"
#include "transport/native/link.hpp"

namespace plait {

namespace {

using transport::native::Clock;
using transport::native::Link;

/// A status is an observation, so it does not wait as long as the timeout= of readers and writers may be.
constexpr std::chrono::seconds kMaxTimeout{10};

PipeProgram to_program(const std::string& program, std::int64_t processes) {
  const pipe::Program parsed = pipe::parse_program(program);
  return {parsed.name, parsed.process, parsed.host, processes};
}

/// Describes which pipes exist, for the error that a name is unknown.
std::string describe_other_pipes() {
  const std::vector<std::string> names = pipe::meeting_names();
  if (names.empty()) return "no program writes to a pipe there";
  std::string list;
  for (const std::string& name : names) list += base::text(list.empty() ? "" : ", ", name);
  return base::text("there are: ", list);
}

/// Requests the status from a writer, and returns the encoded StatusAnswer.
std::string request_status(const pipe::Invitation& writer, const std::string& url, Clock::time_point until) {
  const std::unique_ptr<Link> link = Link::connect(writer.endpoints, writer.key, until);
  link->send({static_cast<std::uint32_t>(pipe::Frame::kStatus), 0, 0, 0}, {}, until);
  std::string answer;
  if (pipe::receive_frame(*link, answer, until).kind != static_cast<std::uint32_t>(pipe::Frame::kStatusText))
    base::throw_system_error(EPROTO, url, ": what answers is not a Plait writer; use the same Plait at both ends");
  return answer;
}

PipeStatus parse_status(const std::string& bytes) {
  auto answer = base::decode<pipe::StatusAnswer>(bytes, pipe::kOtherEnd);
  PipeStatus status;
  status.writer = to_program(answer.program, answer.processes);
  status.type = std::move(answer.type);
  status.steps = answer.steps;
  status.queued = answer.queued;
  status.queue = answer.queue;
  status.dropped = answer.dropped;
  status.bytes = answer.bytes;
  for (const pipe::StatusAnswer::Reader& reader : answer.readers)
    status.readers.push_back({to_program(reader.program, reader.processes), reader.next_step});
  if (!answer.newest) return status;
  status.newest = answer.newest->number;
  status.attributes = std::move(answer.newest->attributes);
  for (pipe::Variable& variable : answer.newest->variables)
    status.variables.push_back({std::move(variable.name), std::move(variable.type), std::move(variable.layout)});
  return status;
}

}  // namespace

PipeStatus pipe_status(const std::string& url) {
  const pipe::Options options = pipe::parse_options(url);
  const auto timeout = std::min<std::chrono::duration<double>>(options.timeout, kMaxTimeout);
  const Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  const std::string folder = pipe::meeting_folder();
  const auto make_absent_error = [&] {
    return Error(ErrorKind::kSystem,
                 base::text(url, ": no program writes to it; programs meet in ", folder, ", and ",
                            describe_other_pipes(), ". Start a program that opens ", url,
                            " with mode \"w\", or name the folder where it meets its readers by PLAIT_MEET"),
                 ENOENT);
  };
  const auto invitation = pipe::find_invitation(options.name);
  if (!invitation) throw make_absent_error();
  PipeStatus status;
  try {
    status = parse_status(request_status(*invitation, url, until));
  } catch (const Error& error) {
    if (!pipe::find_invitation(options.name)) throw make_absent_error();  // the writer has ended meanwhile
    base::rethrow(error, url, ": its writer, ", invitation->program,
                  ", does not answer with its state: ", error.what());
  }
  status.name = options.name;
  status.folder = folder;
  return status;
}

std::vector<std::string> pipe_names() { return pipe::meeting_names(); }

}  // namespace plait
