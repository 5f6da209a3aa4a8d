// SPDX-License-Identifier: Apache-2.0
//
// Opens an address for connections.
//
// In: a host and a port. Out: a socket that listens; sockets of clients, with their addresses.
// Guarantees: names other than "localhost" are not looked up, so that what is listened on is what was written.
// Errors: kInvalidArgument for an address that is none, not ours or in use.
// Threads: one owner. Source: POSIX.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/posix.h"

namespace firn::api {

struct ListenSocket {
  ports::FileDescriptor socket;
  int port = 0;
};

Result<ListenSocket> Listen(const std::string& host, int port);
/// Not valid when nobody waits; errno tells why.
ports::FileDescriptor AcceptClient(const ListenSocket& listener, std::string& client);

}  // namespace firn::api
