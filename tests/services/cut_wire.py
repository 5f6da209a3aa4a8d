# SPDX-License-Identifier: Apache-2.0
"""A wire to a server that can be cut: TCP in both directions, whatever is spoken on it.

    with CutWire(url) as wire: ... wire.url ... wire.cut("drop", 2.0) ...

drop      all connections end, and new ones end at once, for so many seconds
hole      nothing passes for so many seconds, then it all does
"""

import socket
import threading

from .local_tcp import HttpWire


class CutWire(HttpWire):
    def __init__(self, url):
        super().__init__(url)
        self.open = threading.Event()
        self.open.set()
        self.dropping = False
        self.sockets = set()

    def __exit__(self, *ended):
        super().__exit__(*ended)
        self.mend()
        self.end_all()

    def cut(self, kind, seconds):
        if kind == "drop":
            self.dropping = True
            self.end_all()
        else:
            self.open.clear()
        timer = threading.Timer(seconds, self.mend)
        timer.daemon = True
        timer.start()

    def mend(self):
        self.dropping = False
        self.open.set()

    def end_all(self):
        with self.lock:
            sockets = list(self.sockets)
        for end in sockets:
            self.shut(end)

    @staticmethod
    def shut(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def serve(self, client):
        if self.dropping:
            client.close()
            return
        try:
            upstream = self.connect()
        except OSError:
            client.close()
            return
        for end in (client, upstream):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.sockets |= {client, upstream}
        ends = [2]  # directions that still run
        threading.Thread(target=self.copy, args=(upstream, client, ends), daemon=True).start()
        self.copy(client, upstream, ends)

    def copy(self, source, target, ends):
        try:
            while data := source.recv(1 << 18):
                self.open.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            self.shut(source)
            self.shut(target)
        with self.lock:
            ends[0] -= 1
            if ends[0]:
                return
            self.sockets -= {source, target}
        source.close()
        target.close()
