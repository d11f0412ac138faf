package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
)

// setup is what to decide with, as the bench writes it: values already read and checked.
type setup struct {
	Base      string           `json:"base"`
	Rates     map[string]int64 `json:"rates"`
	LineItems []lineItem       `json:"line_items"` // by price, the highest first
}

type lineItem struct {
	ID          string      `json:"id"`
	Seat        string      `json:"seat"`
	Live        bool        `json:"live"`
	Adomain     []string    `json:"adomain"`
	Cat         []string    `json:"cat"`
	Cattax      int32       `json:"cattax"`
	Bundle      string      `json:"bundle"`
	CPM         int64       `json:"cpm_micros"`
	Available   int64       `json:"available_micros"`
	Deals       []string    `json:"deals"`
	Countries   []string    `json:"countries"`
	DeviceTypes []uint      `json:"device_types"` // with those that meet a target of 1
	VideoSize   videoBounds `json:"video_size"`
	Creatives   []creative  `json:"creatives"`

	types uint16
	media uint8
}

type videoBounds struct {
	MinW int32 `json:"min_w"`
	MinH int32 `json:"min_h"`
	MaxW int32 `json:"max_w"`
	MaxH int32 `json:"max_h"`
}

type creative struct {
	ID       string  `json:"id"`
	Media    int     `json:"media"`
	W        int32   `json:"w"`
	H        int32   `json:"h"`
	Duration int32   `json:"duration"`
	Mime     string  `json:"mime"`
	Protocol int32   `json:"protocol"`
	APIs     []int32 `json:"apis"`
	Attr     []int32 `json:"attr"`
	Secure   bool    `json:"secure"`
}

func readSetup(path string) (*setup, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := new(setup)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	for i := range s.LineItems {
		li := &s.LineItems[i]
		for _, number := range li.DeviceTypes {
			li.types |= 1 << number
		}
		for _, c := range li.Creatives {
			li.media |= 1 << c.Media
		}
	}
	return s, nil
}

// readRequests reads requests, each behind its length in four bytes, little-endian.
func readRequests(path string) ([][]byte, error) {
	all, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var requests [][]byte
	for len(all) > 0 {
		if len(all) < 4 || uint64(len(all)-4) < uint64(binary.LittleEndian.Uint32(all)) {
			return nil, errors.New(path + ": cut off")
		}
		end := 4 + binary.LittleEndian.Uint32(all)
		requests = append(requests, all[4:end:end])
		all = all[end:]
	}
	return requests, nil
}
