// What a short client does not show: grpc-go's deadlines, cancellation, big messages, metadata and
// authorities against a running bidder, which is well after each. clients.rs puts this file beside
// clients/go/main.go and runs it with the bidder's address and process id in the environment.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	flatbuffers "github.com/google/flatbuffers/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"nearbid/flat"
	"nearbid/openrtb"
	nearbidv1 "nearbid/v1"
)

// patience is longer than anything here takes on a busy machine.
const patience = 60 * time.Second

var address = os.Getenv("NEARBID_ADDRESS")

func dial(t *testing.T, options ...grpc.DialOption) *grpc.ClientConn {
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func soon(t *testing.T, timeout time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

func banner(id string, customdata string) *openrtb.BidRequest {
	return &openrtb.BidRequest{
		Id: &id,
		Imp: []*openrtb.Imp{{
			Id:     proto.String("1"),
			Banner: &openrtb.Banner{W: proto.Int32(300), H: proto.Int32(250)},
		}},
		Device: &openrtb.Device{
			Devicetype: proto.Int32(4),
			Geo:        &openrtb.Geo{Country: proto.String("USA")},
		},
		User: &openrtb.User{Customdata: &customdata},
	}
}

// wantBid fails unless the bidder bids as ever.
func wantBid(t *testing.T, ctx context.Context, conn *grpc.ClientConn, request *openrtb.BidRequest) {
	t.Helper()
	answer, err := nearbidv1.NewBidderClient(conn).Bid(ctx, request)
	if err != nil || answer.GetId() != request.GetId() || len(answer.Seatbid) != 1 {
		t.Errorf("no bid but %v, %v", answer, err)
	}
}

func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("%v, not %v", err, want)
	}
}

func TestManyAtOnce(t *testing.T) {
	conn, ctx := dial(t), soon(t, patience)
	var callers sync.WaitGroup
	for caller := range 100 {
		callers.Go(func() {
			for call := range 20 {
				wantBid(t, ctx, conn, banner(fmt.Sprint(caller, "-", call), ""))
			}
		})
	}
	callers.Wait()
}

func TestBigMessages(t *testing.T) {
	conn, ctx := dial(t), soon(t, patience)
	big := strings.Repeat("x", 200<<10)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() { wantBid(t, ctx, conn, banner("big", big)) })
	}
	callers.Wait()

	request := flatbuffers.NewBuilder(256 << 10)
	request.CreateString(big)
	build(request, "USA")
	var answer flat.BidResponse
	err := conn.Invoke(ctx, nearbidv1.Bidder_Bid_FullMethodName, request, &answer,
		grpc.CallContentSubtype(flatbuffers.Codec))
	if err != nil || answer.SeatbidLength() != 1 {
		t.Errorf("no bid, but %v", err)
	}

	_, err = nearbidv1.NewBidderClient(conn).Bid(ctx, banner("too big", big+big))
	wantCode(t, err, codes.ResourceExhausted)
	wantBid(t, ctx, conn, banner("after", ""))
}

func TestMetadata(t *testing.T) {
	conn, ctx := dial(t), soon(t, patience)
	odd := metadata.AppendToOutgoingContext(ctx, "exchange", "a b, c", "trace-bin", "\x00\xff",
		"long", strings.Repeat("y", 4096))
	wantBid(t, odd, conn, banner("odd", ""))
	torn := metadata.AppendToOutgoingContext(ctx, "nearbid-format", "json")
	request := flatbuffers.NewBuilder(1024)
	build(request, "USA")
	err := conn.Invoke(torn, nearbidv1.Bidder_Bid_FullMethodName, request, new(flat.BidResponse),
		grpc.CallContentSubtype(flatbuffers.Codec))
	wantCode(t, err, codes.InvalidArgument)
}

// A bidder that has no CPU for longer than its exchange waits finds calls that are cancelled.
func TestDeadlines(t *testing.T) {
	pid, err := strconv.Atoi(os.Getenv("NEARBID_PID"))
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t)
	late := func() error {
		_, err := nearbidv1.NewBidderClient(conn).Bid(soon(t, 200*time.Millisecond), banner("late", ""))
		return err
	}
	wantBid(t, soon(t, patience), conn, banner("before", ""))
	syscall.Kill(pid, syscall.SIGSTOP)
	defer syscall.Kill(pid, syscall.SIGCONT)
	for late() == nil { // The signal takes a moment.
	}
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() { wantCode(t, late(), codes.DeadlineExceeded) })
	}
	callers.Wait()
	syscall.Kill(pid, syscall.SIGCONT)
	wantBid(t, soon(t, patience), conn, banner("after", ""))
}

func TestCancellation(t *testing.T) {
	conn := dial(t)
	ctx, cancel := context.WithCancel(soon(t, patience))
	watch, err := health.NewHealthClient(conn).Watch(ctx, new(health.HealthCheckRequest))
	if err != nil {
		t.Fatal(err)
	}
	if now, err := watch.Recv(); err != nil || now.Status != health.HealthCheckResponse_SERVING {
		t.Fatal(now, err)
	}
	cancel()
	_, err = watch.Recv()
	wantCode(t, err, codes.Canceled)
	wantBid(t, soon(t, patience), conn, banner("after", ""))
}

// Libraries differ in what they call a server that has a path and no name.
func TestAuthorities(t *testing.T) {
	for _, authority := range []string{"localhost", "run%2Fbid.sock", "bidder:9090"} {
		conn := dial(t, grpc.WithAuthority(authority))
		wantBid(t, soon(t, patience), conn, banner(authority, ""))
	}
}
