package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	pb "nearbid/peers/generated/pb"
)

// The two ends of a call that `nearbid bench transports` measures, by grpc-go as its documentation has
// it. Both say a line when they are ready; the exchange's end then waits for a line, makes its calls
// and answers with a line of JSON. Both end with their input.

const bidPath = "/nearbid.v1.Bidder/Bid"

// raw passes bytes on: who decides on a message decodes it.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

type callArgs struct {
	end, address, load, dir string
	calls                   int
}

func callMain(words []string) error {
	var args callArgs
	flags := flag.NewFlagSet("call", flag.ExitOnError)
	flags.StringVar(&args.end, "end", "", "bidder or exchange")
	flags.StringVar(&args.address, "address", "", "unix:///path or tcp://host:port")
	flags.StringVar(&args.load, "load", "", "sequential, saturated, paced, spaced or full")
	flags.StringVar(&args.dir, "dir", ".", "folder with setup.json and protobuf.requests")
	flags.IntVar(&args.calls, "calls", 0, "how many calls")
	if err := flags.Parse(words); err != nil {
		return err
	}
	if args.end == "bidder" {
		return args.bidder()
	}
	return args.exchange()
}

func (a *callArgs) fixed() bool { return a.load == "sequential" || a.load == "saturated" }

func (a *callArgs) bidder() error {
	setup, err := readSetup(filepath.Join(a.dir, "setup.json"))
	if err != nil {
		return err
	}
	network, address, _ := strings.Cut(a.address, "://")
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	answer := setup.answer
	if a.fixed() {
		no := int32(507)
		reply, err := proto.Marshal(&pb.BidResponse{Id: proto.String("0b1f9cb2-5a26-4d33-9d0e-6f3b7b0a52c1"), Nbr: &no})
		if err != nil {
			return err
		}
		answer = func([]byte) ([]byte, error) { return reply, nil }
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(raw{}))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "nearbid.v1.Bidder",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Bid",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var message []byte
				if err := decode(&message); err != nil {
					return nil, err
				}
				reply, err := answer(message)
				return &reply, err
			},
		}},
	}, nil)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	os.Stdout.WriteString("ready\n")
	return server.Serve(listener)
}

// scratch is what one decision works in.
type scratch struct {
	reader protobuf
	facts  facts
	out    decision
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// answer decodes a request into structs and holds the line items against it, as the experiment did.
func (s *setup) answer(message []byte) ([]byte, error) {
	work := scratches.Get().(*scratch)
	defer scratches.Put(work)
	if err := work.reader.read(message, &work.facts); err != nil {
		return nil, err
	}
	s.decide(&work.facts, &work.out)
	return proto.Marshal(work.out.response(work.facts.id))
}

func (d *decision) response(id string) *pb.BidResponse {
	reply := &pb.BidResponse{Id: &id}
	if len(d.bids) == 0 {
		reply.Nbr = &nbrs[d.reason]
		return reply
	}
	seat := new(pb.SeatBid)
	for i := range d.bids {
		bid := &d.bids[i]
		price := float64(bid.Price) / 1e6
		seat.Bid = append(seat.Bid, &pb.Bid{Id: &id, Impid: &bid.Imp, Cid: &bid.LineItem, Crid: &bid.Creative, Price: &price})
	}
	reply.Seatbid = []*pb.SeatBid{seat}
	return reply
}

type measured struct {
	P50    float64 `json:"p50_us"`
	P99    float64 `json:"p99_us"`
	P999   float64 `json:"p999_us"`
	PerS   float64 `json:"per_s"`
	Errors int64   `json:"errors"`
}

func (a *callArgs) exchange() error {
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	requests, err := readRequests(filepath.Join(a.dir, "protobuf.requests"))
	if err != nil || len(requests) == 0 {
		return errors.Join(err, errors.New("no request"))
	}
	inFlight, connections := 1, 1
	if a.load == "saturated" || a.load == "full" {
		inFlight, connections = 64, 4
	}
	caller := &caller{requests: requests}
	for range connections {
		target := strings.Replace(a.address, "tcp://", "passthrough:///", 1)
		connection, err := grpc.NewClient(target,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{})))
		if err != nil {
			return err
		}
		caller.connections = append(caller.connections, connection)
	}
	if caller.closed(a.calls/10+1, max(inFlight, connections)); caller.errors.Load() > 0 {
		return fmt.Errorf("no answers from %s", a.address)
	}
	os.Stdout.WriteString("ready\n")
	input := bufio.NewReader(os.Stdin)
	if _, err := input.ReadString('\n'); err != nil {
		return err
	}
	start := time.Now()
	switch a.load {
	case "paced":
		caller.open(a.calls, func(i int) time.Duration { return time.Duration(i/5) * 500 * time.Microsecond })
	case "spaced":
		caller.open(a.calls, func(i int) time.Duration { return time.Duration(i) * 100 * time.Microsecond })
	default:
		caller.closed(a.calls, inFlight)
	}
	if err := json.NewEncoder(os.Stdout).Encode(caller.measured(time.Since(start))); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, input)
	return err
}

type caller struct {
	requests    [][]byte
	connections []*grpc.ClientConn
	latencies   []time.Duration
	errors      atomic.Int64
}

func (c *caller) call(i int, at time.Time) {
	var reply []byte
	request := c.requests[i%len(c.requests)]
	err := c.connections[i%len(c.connections)].Invoke(context.Background(), bidPath, &request, &reply)
	c.latencies[i] = time.Since(at)
	if err != nil || len(reply) == 0 {
		c.errors.Add(1)
	}
}

// closed keeps so many calls in flight.
func (c *caller) closed(calls, inFlight int) {
	c.latencies = make([]time.Duration, calls)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < calls; i = int(next.Add(1)) - 1 {
				c.call(i, time.Now())
			}
		})
	}
	workers.Wait()
}

// open makes each call at its time.
func (c *caller) open(calls int, due func(int) time.Duration) {
	c.latencies = make([]time.Duration, calls)
	start := time.Now()
	var workers sync.WaitGroup
	for i := range calls {
		at := start.Add(due(i))
		if wait := time.Until(at); wait > 0 {
			time.Sleep(wait)
		}
		workers.Go(func() { c.call(i, at) })
	}
	workers.Wait()
}

func (c *caller) measured(elapsed time.Duration) measured {
	slices.Sort(c.latencies)
	at := func(quantile float64) float64 {
		i := min(int(quantile*float64(len(c.latencies))), len(c.latencies)-1)
		return float64(c.latencies[i].Nanoseconds()) / 1e3
	}
	answered := int64(len(c.latencies)) - c.errors.Load()
	return measured{at(0.5), at(0.99), at(0.999), float64(answered) / elapsed.Seconds(), c.errors.Load()}
}
