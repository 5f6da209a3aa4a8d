# SPDX-License-Identifier: Apache-2.0
"""A wire to an HTTP server on which every piece of a request waits.

    with SlowWire(url, seconds) as wire: ... wire.url ...
"""

import threading
import time

from .local_tcp import HttpWire


class SlowWire(HttpWire):
    def __init__(self, url, seconds):
        super().__init__(url)
        self.seconds = seconds

    def serve(self, client):
        server = self.connect()
        threading.Thread(target=self.copy, args=(server, client, 0), daemon=True).start()
        self.copy(client, server, self.seconds)

    def copy(self, source, target, seconds):
        try:
            while data := source.recv(1 << 20):
                time.sleep(seconds)
                target.sendall(data)
        except OSError:
            pass
        self.close(source)
        self.close(target)
