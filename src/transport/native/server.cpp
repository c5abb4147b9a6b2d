#include "transport/native/server.hpp"

#include <pthread.h>

#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "transport/native/address.hpp"
#include "transport/native/serving/network.hpp"
#include "transport/native/serving/server_loop.hpp"

namespace plait::transport::native {

namespace {

class RunningServer final : public Server {
 public:
  RunningServer(Endpoints endpoints, std::shared_ptr<ServerLoop> loop)
      : endpoints_(std::move(endpoints)), loop_(std::move(loop)) {
    // Signals must be handled by threads of the program, so start the thread with all signals blocked.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::make_unique<std::thread>([loop = loop_.get()] { loop->run(); });
    } catch (const std::system_error& error) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      base::throw_system_error(error.code().value(), "cannot start a thread: ", error.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~RunningServer() override {
    if (owner_.here()) {
      loop_->mailbox()->stop();
      thread_->join();
    }
    base::destroy_or_leak(thread_,
                          owner_);  // in a child process, the destructor of the std::thread would end the program
  }

  const Endpoints& endpoints() const override { return endpoints_; }
  void post(std::function<void()> body) override {
    if (owner_.here()) loop_->mailbox()->post(std::move(body));
  }
  std::int64_t rejected() const override { return loop_->rejected(); }
  std::shared_ptr<EventLoop> loop() const override { return loop_; }

 private:
  const base::Owner owner_;
  const Endpoints endpoints_;
  const std::shared_ptr<ServerLoop> loop_;
  std::unique_ptr<std::thread> thread_;
};

/// Checks a range of ports; 0 and 0 mean any port.
void check_ports(const Server::Options& options) {
  if ((options.first_port == 0) != (options.last_port == 0) || options.first_port > options.last_port)
    base::throw_argument_error("no range of ports: ", options.first_port, " to ", options.last_port,
                               "; give the lowest and the highest, from 1 to 65535, or neither");
}

std::unique_ptr<Server> start_server(const Key& key, ServerLoop::Users users, const Server::Options& options) {
  check_ports(options);
  std::vector<base::host::NetworkAddress> addresses;
  if (options.other_hosts) addresses = choose_addresses(base::host::interfaces(), options.network);
  ServerLoop::Sockets sockets;
  sockets.local = listen_locally();
  Endpoints endpoints = own_host();
  endpoints.addresses.push_back(Address{Address::Local{sockets.local.name}}.text());
  // Without a network address, the server only has its local socket.
  if (!addresses.empty()) {
    sockets.tcp = listen_on_network(options.first_port, options.last_port);
    if (!options.network.empty()) sockets.network = addresses;
    for (const auto& address : addresses)
      if (sockets.tcp.ipv6 || base::host::is_ipv4(address))
        endpoints.addresses.push_back(Address{Address::Tcp{address, sockets.tcp.port}}.text());
  }
  return std::make_unique<RunningServer>(
      std::move(endpoints), base::make_owned<ServerLoop>(key, std::move(users), options, std::move(sockets)));
}

}  // namespace

std::unique_ptr<Server> Server::start(const Key& key, std::shared_ptr<Service> service, const Options& options) {
  return start_server(key, {std::move(service), nullptr}, options);
}

std::unique_ptr<Server> Server::start(const Key& key, std::shared_ptr<ConnectionTaker> taker, const Options& options) {
  return start_server(key, {nullptr, std::move(taker)}, options);
}

}  // namespace plait::transport::native
