"""The shortest exchange in Python: one bid request, as protobuf and as FlatBuffers.

    python3 bid.py ADDRESS [COUNTRY]
"""

import pathlib
import sys

import flatbuffers
import grpc

sys.path.insert(0, str(pathlib.Path(__file__).with_name("generated")))
import bidder_pb2_grpc
import openrtb_pb2 as openrtb
from nearbid.openrtb import Banner, BidRequest, BidResponse, Device, Geo, Imp

TIMEOUT_S = 5  # The first call also connects. An exchange gives each what is left of its auction.


def bid_protobuf(channel, country):
    request = openrtb.BidRequest(
        id="request-1",
        imp=[openrtb.Imp(id="1", banner=openrtb.Banner(w=300, h=250))],
        device=openrtb.Device(devicetype=4, geo=openrtb.Geo(country=country)),
    )
    answer = bidder_pb2_grpc.BidderStub(channel).Bid(request, timeout=TIMEOUT_S)
    if not answer.seatbid:
        print(f"protobuf: no bid, nbr {answer.nbr}")
        return
    bid = answer.seatbid[0].bid[0]
    print(f"protobuf: bid {bid.price} {answer.cur}, id {bid.id}")


def bid_flatbuffers(channel, country):
    # Without serializers a call takes and gives bytes; the metadata says what they are.
    call = channel.unary_unary("/nearbid.v1.Bidder/Bid")
    metadata = [("nearbid-format", "flatbuffers")]
    request = build(flatbuffers.Builder(1024), country)
    reply = call(request, metadata=metadata, timeout=TIMEOUT_S)
    answer = BidResponse.BidResponse.GetRootAs(reply)
    if answer.SeatbidIsNone():
        print(f"flatbuffers: no bid, nbr {answer.Nbr()}")
        return
    bid = answer.Seatbid(0).Bid(0)
    print(f"flatbuffers: bid {bid.Price()} {answer.Cur().decode()}, id {bid.Id().decode()}")


def build(b, country):
    """Builds a request from the inside out: what a table refers to stands before it."""
    request_id, imp_id, code = (b.CreateString(s) for s in ("request-1", "1", country))

    Banner.Start(b)
    Banner.AddW(b, 300)
    Banner.AddH(b, 250)
    banner = Banner.End(b)

    Imp.Start(b)
    Imp.AddId(b, imp_id)
    Imp.AddBanner(b, banner)
    imp = Imp.End(b)

    BidRequest.StartImpVector(b, 1)
    b.PrependUOffsetTRelative(imp)
    imps = b.EndVector()

    Geo.Start(b)
    Geo.AddCountry(b, code)
    geo = Geo.End(b)

    Device.Start(b)
    Device.AddDevicetype(b, 4)
    Device.AddGeo(b, geo)
    device = Device.End(b)

    BidRequest.Start(b)
    BidRequest.AddId(b, request_id)
    BidRequest.AddImp(b, imps)
    BidRequest.AddDevice(b, device)
    b.Finish(BidRequest.End(b))
    return bytes(b.Output())


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: bid.py ADDRESS [COUNTRY], ADDRESS as unix:///run/nearbid/bid.sock or host:port")
    address, country = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "USA"
    # Keep the channel: it connects once and serves all threads.
    with grpc.insecure_channel(address) as channel:
        bid_protobuf(channel, country)
        bid_flatbuffers(channel, country)


main()
