# SPDX-License-Identifier: Apache-2.0
"""TCP proxies in a thread, for tests: a subclass says in serve() what happens to a connection.

Threads that a subclass puts into `threads` are waited for at the end.
"""

import socket
import threading
import urllib.parse


class TcpProxy:
    def __init__(self, port, host="127.0.0.1"):
        self.upstream = (host, port)
        self.threads = []
        self.lock = threading.Lock()
        self.server = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.server.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for thread in list(self.threads):
            thread.join(30)
        self.server.close()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def connect(self):
        return socket.create_connection(self.upstream)

    def serve(self, client):
        raise NotImplementedError

    @staticmethod
    def close(connection):
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        connection.close()


class HttpWire(TcpProxy):
    """The same in front of the server of a URL."""

    def __init__(self, url):
        target = urllib.parse.urlsplit(url)
        super().__init__(target.port, target.hostname)
        self.url = f"http://127.0.0.1:{self.port}"
