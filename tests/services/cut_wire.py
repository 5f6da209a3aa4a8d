# SPDX-License-Identifier: Apache-2.0
"""A wire to a server that can be cut: TCP in both directions, whatever is spoken on it.

    with CutWire(url) as wire: ... wire.url ... wire.cut("drop", 2.0) ...

drop      all connections end, and new ones end at once, for so many seconds
hole      nothing passes for so many seconds, then it all does
"""

import socket
import threading
import urllib.parse


class CutWire:
    def __init__(self, url):
        self.target = urllib.parse.urlsplit(url)
        self.server = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.open = threading.Event()
        self.open.set()
        self.dropping = False
        self.lock = threading.Lock()
        self.sockets = set()

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.close()
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

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            if self.dropping:
                client.close()
                continue
            try:
                upstream = socket.create_connection((self.target.hostname, self.target.port))
            except OSError:
                client.close()
                continue
            for end in (client, upstream):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.sockets |= {client, upstream}
            ends = [2]  # directions that still run
            for source, target in ((client, upstream), (upstream, client)):
                threading.Thread(target=self.copy, args=(source, target, ends), daemon=True).start()

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
