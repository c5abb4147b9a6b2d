#include "core/file/context.hpp"

#include <exception>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "store/objects/web/web_url.hpp"
#include "transport/thread/team.hpp"

namespace plait::core {

std::string_view mode_name(Mode mode) {
  if (mode == Mode::kRead) return "r";
  if (mode == Mode::kWrite) return "w";
  return mode == Mode::kReadWrite ? "r+" : "a";
}

FileContext::FileContext(const std::string& path, Mode mode, const Comm& comm)
    : comm_(comm),
      path_(path),
      mode_(mode),
      worker_(comm.alone() ? base::make_owned<Worker>() : get_worker(comm)),
      trace_number_(base::recorded_name(store::web::without_secrets(path))) {}

std::string FileContext::name() const { return base::text(path_, " (opened as number ", number_, ')'); }

void FileContext::check_writable() const {
  if (mode_ == Mode::kRead)
    base::throw_argument_error(path_, " is open for reading; open it with mode \"r+\" or \"w\" to write");
}

bool FileContext::is_abandoned() const {
  return comm_.size() > 1 && get_transport(comm_).abandoned_numbers().contains(number_);
}

void FileContext::call(base::FunctionRef<void()> body) const {
  try {
    checked_worker().run(body);
  } catch (const Error&) {
    throw;
  } catch (...) {
    fail(comm_, std::current_exception());
  }
}

void FileContext::with_transport(base::FunctionRef<void(transport::Transport&)> body) {
  if (comm_.alone()) {
    if (!keeps_transport_) return body(*transport::thread::make_alone());
    if (!own_transport_) own_transport_ = transport::thread::make_alone();
    body(*own_transport_);
  } else {
    collective::together(get_transport(comm_), [&] { body(get_transport(comm_)); });
  }
}

}  // namespace plait::core
