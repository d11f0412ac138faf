"""gRPC's C core, by way of Python's grpcio, against a server of the transport's tests.

Run by interop.rs: interop.py TARGET, with TARGET as grpcio spells it (unix:/path or host:port).
"""

import sys
import time

import grpc

target = sys.argv[1]
channel = grpc.insecure_channel(target, options=[("grpc.max_receive_message_length", -1)])


def unary(name, service="test.Test"):
    return channel.unary_unary(f"/{service}/{name}")


def code(call, *args, **options):
    try:
        call(*args, **options)
    except grpc.RpcError as error:
        return error.code(), error.details()
    return grpc.StatusCode.OK, ""


echo = unary("Echo")
for size in (0, 1, 2048, 16379, 65536, 200_000):
    message = bytes(i % 251 for i in range(size))
    assert echo(message, timeout=20) == message, size
for i in range(2000):
    assert echo(b"%d" % i, timeout=20) == b"%d" % i

# Many at once, on one connection.
futures = [echo.future(b"%d" % i, timeout=20) for i in range(500)]
assert [f.result() for f in futures] == [b"%d" % i for i in range(500)]

# A reply past every window.
assert len(unary("Grow")(b"9000000", timeout=20)) == 9_000_000

# Errors, and their texts.
assert code(unary("Fail"), b"", timeout=20) == (
    grpc.StatusCode.NOT_FOUND,
    "no such \u201cthing\u201d: 100%\n",
)
assert code(unary("Nothing"), b"", timeout=20)[0] == grpc.StatusCode.UNIMPLEMENTED
assert code(echo, b"x" * 300_000, timeout=20)[0] == grpc.StatusCode.RESOURCE_EXHAUSTED
assert echo(b"alive", timeout=20) == b"alive"

# Deadlines and cancellation.
assert code(unary("Wait"), b"300000", timeout=0.05)[0] == grpc.StatusCode.DEADLINE_EXCEEDED
busy, given_up = unary("Wait").future(b"200000", timeout=20), echo.future(b"x", timeout=20)
time.sleep(0.05)
given_up.cancel()
assert given_up.cancelled() and busy.result() == b"200000"

# Metadata, both ways, and what the server knows. (C core rounds timeouts up.)
reply, call = unary("Tell").with_call(b"", timeout=4, metadata=[("x-seen", "a b"), ("x-other", "1")])
assert ("seen", "a b") in call.initial_metadata(), call.initial_metadata()
kind = "unix" if target.startswith("unix:") else "tcp"
assert reply.decode().startswith(f' {kind} Some("1")') and reply.endswith(b"true"), reply

# Compressed requests are refused, or sent uncompressed once grpcio knows.
compressed = code(echo, b"x" * 10_000, timeout=20, compression=grpc.Compression.Gzip)
assert compressed[0] in (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.OK), compressed

# Streams.
stream = channel.stream_stream("/test.Test/Stream")
assert list(stream(iter([b"ab", b"", b"c"]), timeout=20)) == [b"a", b"b", b"c"]
assert list(stream(iter([]), timeout=20)) == []

# Health, as bytes.
check = unary("Check", "grpc.health.v1.Health")
assert check(b"", timeout=20) == b"\x08\x01"
assert check(b"\x0a\x09test.Test", timeout=20) == b"\x08\x01"
assert code(check, b"\x0a\x01x", timeout=20)[0] == grpc.StatusCode.NOT_FOUND
watch = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"", timeout=20)
assert next(watch) == b"\x08\x01"
watch.cancel()

channel.close()
print("interop with grpcio", grpc.__version__, "over", kind, "is well")
