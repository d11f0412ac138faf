"""A stock gRPC client (C core) against a running bidder: bids and no-bids, in protobuf and, by
metadata, in FlatBuffers. Fails with a traceback.

    python3 interop.py SCHEMA_FOLDER TARGET...
"""

import os
import sys
import tempfile

import flatbuffers
import grpc
import grpc_tools
from flatbuffers import number_types, table
from grpc_tools import protoc

BID = "/nearbid.v1.Bidder/Bid"


def stubs(schema):
    """The modules that protoc makes of the schema."""
    out = tempfile.mkdtemp()
    well_known = os.path.join(os.path.dirname(grpc_tools.__file__), "_proto")
    args = ["protoc", f"-I{schema}", f"-I{well_known}"]
    args += [f"--python_out={out}", f"--grpc_python_out={out}"]
    assert protoc.main([*args, "openrtb.proto", "bidder.proto"]) == 0
    sys.path.insert(0, out)
    import bidder_pb2_grpc
    import openrtb_pb2

    return openrtb_pb2, bidder_pb2_grpc


def request_in_flatbuffers(country):
    """A request built field by field: the slot of a field is its number in openrtb.proto."""
    b = flatbuffers.Builder(256)
    request_id, imp_id, code = (b.CreateString(s) for s in ("r1", "1", country))

    b.StartObject(17)  # Banner
    b.PrependInt32Slot(1, 300, None)
    b.PrependInt32Slot(2, 250, None)
    banner = b.EndObject()
    b.StartObject(23)  # Imp
    b.PrependUOffsetTRelativeSlot(1, imp_id, 0)
    b.PrependUOffsetTRelativeSlot(2, banner, 0)
    b.PrependFloat64Slot(8, 1.0, None)
    imp = b.EndObject()
    b.StartObject(14)  # Geo
    b.PrependUOffsetTRelativeSlot(3, code, 0)
    geo = b.EndObject()
    b.StartObject(33)  # Device
    b.PrependUOffsetTRelativeSlot(4, geo, 0)
    device = b.EndObject()
    b.StartVector(4, 1, 4)
    b.PrependUOffsetTRelative(imp)
    imps = b.EndVector()
    b.StartObject(24)  # BidRequest
    b.PrependUOffsetTRelativeSlot(1, request_id, 0)
    b.PrependUOffsetTRelativeSlot(2, imps, 0)
    b.PrependUOffsetTRelativeSlot(5, device, 0)
    b.Finish(b.EndObject())
    return bytes(b.Output())


class Table:
    """A table of a response, read by slot."""

    def __init__(self, data, at):
        self.table = table.Table(data, at)

    @classmethod
    def root(cls, data):
        data = bytearray(data)
        return cls(data, flatbuffers.encode.Get(flatbuffers.packer.uoffset, data, 0))

    def _at(self, slot):
        return self.table.Offset(4 + 2 * slot)

    def string(self, slot):
        at = self._at(slot)
        return self.table.String(at + self.table.Pos).decode() if at else None

    def number(self, slot, flags):
        at = self._at(slot)
        return self.table.Get(flags, at + self.table.Pos) if at else None

    def tables(self, slot):
        at = self._at(slot)
        if not at:
            return []
        start = self.table.Vector(at)
        count = self.table.VectorLen(at)
        return [Table(self.table.Bytes, self.table.Indirect(start + 4 * i)) for i in range(count)]


def check_protobuf(channel, openrtb, services):
    stub = services.BidderStub(channel)

    def request(country):
        imp = openrtb.Imp(id="1", banner=openrtb.Banner(w=300, h=250), bidfloor=1)
        device = openrtb.Device(geo=openrtb.Geo(country=country))
        return openrtb.BidRequest(id="r1", imp=[imp], device=device)

    answer = stub.Bid(request("USA"), timeout=30)
    (bid,) = answer.seatbid[0].bid
    assert (answer.id, answer.cur, answer.seatbid[0].seat) == ("r1", "USD", "s"), answer
    assert (bid.impid, bid.price, bid.cid, bid.crid, bid.mtype) == ("1", 2.5, "li", "c", 1), bid
    answer = stub.Bid(request("FRA"), timeout=30)
    assert (answer.id, answer.nbr, len(answer.seatbid)) == ("r1", 503, 0), answer
    try:
        stub.Bid(openrtb.BidRequest(id="r1"), timeout=30)
        raise AssertionError("a request without an impression was answered")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error


def check_flatbuffers(channel):
    call = channel.unary_unary(BID)
    metadata = [("nearbid-format", "flatbuffers")]
    answer = Table.root(call(request_in_flatbuffers("USA"), metadata=metadata, timeout=30))
    (seat,) = answer.tables(2)
    (bid,) = seat.tables(1)
    said = (answer.string(1), seat.string(2), bid.string(2), bid.string(9))
    assert said == ("r1", "s", "1", "li"), said
    assert bid.number(3, number_types.Float64Flags) == 2.5
    answer = Table.root(call(request_in_flatbuffers("FRA"), metadata=metadata, timeout=30))
    assert answer.number(6, number_types.Int32Flags) == 503 and not answer.tables(2)
    try:
        call(b"\xff" * 64, metadata=metadata, timeout=30)
        raise AssertionError("damage was answered")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error


def check_health(channel):
    serving = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=30)
    assert serving == b"\x08\x01", serving


def main():
    schema, *targets = sys.argv[1:]
    openrtb, services = stubs(schema)
    for target in targets:
        with grpc.insecure_channel(target) as channel:
            check_protobuf(channel, openrtb, services)
            check_flatbuffers(channel)
            check_health(channel)
        print(f"{target}: protobuf, flatbuffers, health")


main()
