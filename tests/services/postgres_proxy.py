# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy in front of PostgreSQL that spoils COMMITs in chosen ways.

    with PostgresProxy(port, ["cut_after", "pass"]) as proxy: ... proxy.port ...

Each COMMIT (of the extended protocol, unencrypted) takes the next fault of the list; after the list all pass.

cut_before   the connection to the client ends, nothing is forwarded
cut_after    COMMIT is forwarded, then the connection to the client ends
late:S       the connection to the client ends, COMMIT is forwarded S seconds later; the server sees no end before
silent       nothing is forwarded and nothing is answered, the connections stay
"""

import struct
import threading
import time

from .local_tcp import TcpProxy


class PostgresProxy(TcpProxy):
    def __init__(self, port, faults):
        super().__init__(port)
        self.faults = list(faults)
        self.taken = []

    def next_fault(self):
        with self.lock:
            fault = self.faults.pop(0) if self.faults else "pass"
            self.taken.append(fault)
            return fault

    def serve(self, client):
        server = self.connect()
        back = threading.Thread(target=self.copy_back, args=(server, client), daemon=True)
        back.start()
        try:
            self.copy_messages(client, server)
        except OSError:
            pass
        self.close(server)

    def copy_messages(self, client, server):
        """Whole messages of the client, so that one can be held back."""
        started = False
        while True:
            head = self.read(client, 4 if not started else 5)
            if not head:
                return
            size = struct.unpack("!I", head[-4:])[0] - 4
            body = self.read(client, size)
            code = struct.unpack("!I", body[:4])[0] if not started and size >= 4 else 0
            if not started and code in (80877103, 80877104):  # asks for encryption
                client.sendall(b"N")
                continue
            message = head + body
            if started and head[:1] == b"P" and b"COMMIT\0" in body:
                # The rest of the statement: Bind, Describe, Execute, Sync.
                rest = b""
                while not rest.endswith(b"S\0\0\0\4"):
                    rest += self.read(client, 1)
                if self.spoil(self.next_fault(), message + rest, client, server):
                    return
                continue
            started = True
            server.sendall(message)

    def spoil(self, fault, message, client, server):
        kind, _, argument = fault.partition(":")
        if kind == "pass":
            server.sendall(message)
            return False
        if kind == "silent":
            time.sleep(60)
            return True
        if kind == "cut_after":
            server.sendall(message)
            time.sleep(0.3)  # the server has done it, the answer is on the way back
        self.close(client)
        if kind == "late":
            thread = threading.current_thread()
            self.threads.append(thread)
            time.sleep(float(argument))
            server.sendall(message)
            time.sleep(0.3)
        return True

    def copy_back(self, server, client):
        try:
            while data := server.recv(65536):
                with self.lock:
                    client.sendall(data)
        except OSError:
            pass
        self.close(client)

    @staticmethod
    def read(connection, size):
        data = b""
        while len(data) < size:
            part = connection.recv(size - len(data))
            if not part:
                return b""
            data += part
        return data
