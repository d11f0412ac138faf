// Command bid is the shortest exchange in Go: one bid request, as protobuf and as FlatBuffers.
//
//	bid ADDRESS [COUNTRY]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	flatbuffers "github.com/google/flatbuffers/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"

	"nearbid/flat"
	"nearbid/openrtb"
	nearbidv1 "nearbid/v1"
)

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: bid ADDRESS [COUNTRY], ADDRESS as unix:///run/nearbid/bid.sock or host:port")
	}
	address, country := os.Args[1], "USA"
	if len(os.Args) > 2 {
		country = os.Args[2]
	}
	// One connection serves any number of goroutines; keep it. unix:///path and host:port both work.
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	// The first call also connects. An exchange gives each what is left of its auction.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	bidProtobuf(ctx, conn, country)
	bidFlatBuffers(ctx, conn, country)
}

func bidProtobuf(ctx context.Context, conn *grpc.ClientConn, country string) {
	answer, err := nearbidv1.NewBidderClient(conn).Bid(ctx, &openrtb.BidRequest{
		Id: proto.String("request-1"),
		Imp: []*openrtb.Imp{{
			Id:     proto.String("1"),
			Banner: &openrtb.Banner{W: proto.Int32(300), H: proto.Int32(250)},
		}},
		Device: &openrtb.Device{
			Devicetype: proto.Int32(4),
			Geo:        &openrtb.Geo{Country: &country},
		},
	})
	check(err)
	if len(answer.Seatbid) == 0 {
		fmt.Printf("protobuf: no bid, nbr %d\n", answer.GetNbr())
		return
	}
	bid := answer.Seatbid[0].Bid[0]
	fmt.Printf("protobuf: bid %v %s, id %s\n", bid.GetPrice(), answer.GetCur(), bid.GetId())
}

func init() {
	// The codec's name, flatbuffers, is the content-subtype that the bidder knows.
	encoding.RegisterCodec(flatbuffers.FlatbuffersCodec{})
}

func bidFlatBuffers(ctx context.Context, conn *grpc.ClientConn, country string) {
	request := flatbuffers.NewBuilder(1024) // Reset() makes it ready for the next request.
	build(request, country)
	var answer flat.BidResponse
	err := conn.Invoke(ctx, nearbidv1.Bidder_Bid_FullMethodName, request, &answer,
		grpc.CallContentSubtype(flatbuffers.Codec))
	check(err)
	if answer.SeatbidLength() == 0 {
		fmt.Printf("flatbuffers: no bid, nbr %d\n", *answer.Nbr())
		return
	}
	var seat flat.SeatBid
	var bid flat.Bid
	answer.Seatbid(&seat, 0)
	seat.Bid(&bid, 0)
	fmt.Printf("flatbuffers: bid %v %s, id %s\n", *bid.Price(), answer.Cur(), bid.Id())
}

// build builds a request from the inside out: what a table refers to stands before it.
func build(b *flatbuffers.Builder, country string) {
	requestID, impID, code := b.CreateString("request-1"), b.CreateString("1"), b.CreateString(country)

	flat.BannerStart(b)
	flat.BannerAddW(b, 300)
	flat.BannerAddH(b, 250)
	banner := flat.BannerEnd(b)

	flat.ImpStart(b)
	flat.ImpAddId(b, impID)
	flat.ImpAddBanner(b, banner)
	imp := flat.ImpEnd(b)

	flat.BidRequestStartImpVector(b, 1)
	b.PrependUOffsetT(imp)
	imps := b.EndVector(1)

	flat.GeoStart(b)
	flat.GeoAddCountry(b, code)
	geo := flat.GeoEnd(b)

	flat.DeviceStart(b)
	flat.DeviceAddDevicetype(b, 4)
	flat.DeviceAddGeo(b, geo)
	device := flat.DeviceEnd(b)

	flat.BidRequestStart(b)
	flat.BidRequestAddId(b, requestID)
	flat.BidRequestAddImp(b, imps)
	flat.BidRequestAddDevice(b, device)
	b.Finish(flat.BidRequestEnd(b))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
