// Command peer does in Go what the exchange's bidders do: it reads each request with the usual
// libraries, holds four line items against it, and says what that costs.
//
// `nearbid bench formats` runs it. It first writes a file of decisions for each of its paths, one a
// line, and says "ready"; then each line on its input asks for one round over all paths, answered
// with one line of JSON. So its rounds fall between those of the other paths.
//
// `nearbid bench transports` runs `peer call`, an end of a gRPC call.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// reader fills facts from a request in the receive buffer.
type reader interface {
	read(buffer []byte, f *facts) error
}

type path struct {
	name     string
	reader   reader
	requests [][]byte
}

// cost is what a request cost in one round, on average.
type cost struct {
	Path string `json:"path"`
	// NS is CPU time of the whole process, the collector's included, while requests are decided on:
	// not while they are copied into the receive buffers. WatchNS is what reading the clock takes of it.
	NS      float64 `json:"ns"`
	WatchNS float64 `json:"watch_ns"`
	Allocs  float64 `json:"allocs"`
	Bytes   float64 `json:"bytes"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "call" {
		if err := callMain(os.Args[2:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir := flag.String("dir", ".", "folder with setup.json and the requests; decisions are written there")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("peer: ")
	if err := run(*dir); err != nil {
		log.Fatal(err)
	}
}

func run(dir string) error {
	setup, err := readSetup(filepath.Join(dir, "setup.json"))
	if err != nil {
		return err
	}
	paths, err := readPaths(dir)
	if err != nil {
		return err
	}
	for i := range paths {
		if err := decideAll(dir, setup, &paths[i]); err != nil {
			return err
		}
	}
	os.Stdout.WriteString("ready\n")
	return serve(setup, paths)
}

func readPaths(dir string) ([]path, error) {
	paths := []path{
		{name: "flatbuffers", reader: new(flat)},
		{name: "protobuf", reader: new(protobuf)},
		{name: "json", reader: standard()},
		{name: "json-sonic", reader: bytedance()},
	}
	for i := range paths {
		format, _, _ := strings.Cut(paths[i].name, "-")
		requests, err := readRequests(filepath.Join(dir, format+".requests"))
		if err != nil {
			return nil, err
		}
		paths[i].requests = requests
	}
	return paths, nil
}

// decideAll writes the decisions of a path, and keeps for the rounds the requests that got no bid.
func decideAll(dir string, s *setup, p *path) error {
	file, err := os.Create(filepath.Join(dir, p.name+".decisions"))
	if err != nil {
		return err
	}
	defer file.Close()
	buffered := bufio.NewWriter(file)
	out := json.NewEncoder(buffered)
	var f facts
	var d decision
	var none [][]byte
	for _, request := range p.requests {
		f.cur = nil
		if err := p.reader.read(request, &f); err != nil {
			return err
		}
		s.decide(&f, &d)
		if len(d.bids) == 0 {
			none = append(none, request)
		}
		if err := d.write(out, f.id); err != nil {
			return err
		}
	}
	p.requests = none
	return buffered.Flush()
}

// sockets are the receive buffers of some connections, used again and again. All of a round come in
// before the first is decided on, as in the Rust program.
type sockets [16][]byte

// receive copies a round into the buffers.
func (b *sockets) receive(round [][]byte) [][]byte {
	for i, request := range round {
		b[i] = append(b[i][:0], request...)
	}
	return b[:len(round)]
}

func serve(s *setup, paths []path) error {
	buffers := new(sockets)
	answers := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		costs := make([]cost, len(paths))
		for i := range paths {
			costs[i] = round(s, &paths[i], buffers)
		}
		if err := answers.Encode(costs); err != nil {
			return err
		}
	}
	return nil
}

func round(s *setup, p *path, buffers *sockets) cost {
	var f facts
	var d decision
	var work, idle stopwatch
	count := float64(len(p.requests))
	runtime.GC()
	before := memory()
	for some := range slices.Chunk(p.requests, len(buffers)) {
		received := buffers.receive(some)
		work.start()
		for _, buffer := range received {
			if err := p.reader.read(buffer, &f); err != nil {
				log.Fatal(err)
			}
			s.decide(&f, &d)
		}
		work.stop()
		idle.start()
		idle.stop()
	}
	after := memory()
	return cost{
		Path:    p.name,
		NS:      float64(work.ns) / count,
		WatchNS: float64(idle.ns) / count,
		Allocs:  float64(after.Mallocs-before.Mallocs) / count,
		Bytes:   float64(after.TotalAlloc-before.TotalAlloc) / count,
	}
}

// stopwatch adds up CPU time of the process.
type stopwatch struct{ since, ns int64 }

func (w *stopwatch) start() { w.since = cpu() }

func (w *stopwatch) stop() { w.ns += cpu() - w.since }

func memory() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	return m
}

// cpu is the CPU time of the process so far, in nanoseconds.
func cpu() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		log.Fatal(err)
	}
	return now.Nano()
}
