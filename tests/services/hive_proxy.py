# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy in front of a Hive Metastore that spoils calls in chosen ways.

    with HiveProxy(port, {"alter_table_with_environment_context": ["cut_after"]}) as proxy: ... proxy.uri ...

Each call of a named method takes the next fault of its list; after the list all pass.

cut_before   the connection to the client ends, nothing is forwarded
cut_half     the first half of the call is forwarded, then both connections end
cut_after    the call is forwarded and answered, the connection to the client ends before the answer
late:S       the connection to the client ends, the call is forwarded S seconds later
refuse       nothing is forwarded, the answer is a MetaException
silent       nothing is forwarded and nothing is answered, the connection stays
"""

import threading
import time

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer, TTransportBase, TTransportException

from .local_tcp import TcpProxy


class Recorder(TTransportBase):
    """Keeps the bytes of what is read from a socket."""

    def __init__(self, connection):
        self.connection = connection
        self.bytes = b""

    def read(self, size):
        part = self.connection.recv(size)
        self.bytes += part
        return part

    def message(self):
        """Method and bytes of one whole message; None at the end."""
        self.bytes = b""
        protocol = TBinaryProtocol(self)
        try:
            method, _, _ = protocol.readMessageBegin()
            protocol.skip(TType.STRUCT)
        except (TTransportException, EOFError, OSError):
            return None, b""
        return method, self.bytes


class HiveProxy(TcpProxy):
    def __init__(self, port, faults):
        super().__init__(port)
        self.faults = {method: list(names) for method, names in faults.items()}
        self.taken = []
        self.uri = f"thrift://127.0.0.1:{self.port}"

    def next_fault(self, method):
        with self.lock:
            names = self.faults.get(method)
            fault = names.pop(0) if names else "pass"
            if method in self.faults:
                self.taken.append((method, fault))
            return fault

    def serve(self, client):
        server = self.connect()
        requests, replies = Recorder(client), Recorder(server)
        try:
            while True:
                method, message = requests.message()
                if not method or self.spoil(self.next_fault(method), message, client, server, replies):
                    break
        except OSError:
            pass
        self.close(client)
        self.close(server)

    def spoil(self, fault, message, client, server, replies):
        """Whether the connection is over."""
        kind, _, argument = fault.partition(":")
        if kind == "cut_before":
            return True
        if kind == "refuse":
            client.sendall(self.refusal(message))
            return False
        if kind == "silent":
            client.recv(1)  # until the client goes
            return True
        if kind == "cut_half":
            server.sendall(message[:len(message) // 2])
            return True
        if kind == "late":
            self.close(client)
            self.threads.append(threading.current_thread())
            time.sleep(float(argument))
        server.sendall(message)
        method, answer = replies.message()
        if kind == "pass" and method:
            client.sendall(answer)
            return False
        return True

    @staticmethod
    def refusal(message):
        """The reply to a call that may throw MetaException as its second exception."""
        call = TBinaryProtocol(TMemoryBuffer(message))
        method, _, sequence = call.readMessageBegin()
        buffer = TMemoryBuffer()
        reply = TBinaryProtocol(buffer)
        reply.writeMessageBegin(method, TMessageType.REPLY, sequence)
        reply.writeFieldBegin("o2", TType.STRUCT, 2)
        reply.writeFieldBegin("message", TType.STRING, 1)
        reply.writeString("the database is busy")
        reply.writeFieldStop()
        reply.writeFieldStop()
        return buffer.getvalue()
