package main

import (
	"encoding/json"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// The stages at which a line item drops out, in their order, and what keeps them from being walked.
const (
	invalidRequest = iota
	currency
	inactive
	deal
	country
	deviceType
	mediaFormat
	videoSize
	floor
	budget
	blocked
	passed
)

var names = [...]string{
	"invalid_request", "currency", "inactive", "deal", "country", "device_type", "format",
	"video_size", "floor", "budget", "blocked",
}

// nbrs are the numbers of the reasons (BidResponse.nbr).
var nbrs = [...]int32{2, 511, 501, 502, 503, 6, 505, 506, 507, 508, 509}

// Media, as bits by their place in the standard: banner, video, audio, native.
const (
	banner = iota
	video
	audio
	native
)

// facts is what the checks look at, filled anew for each request into the same memory. Strings may
// lie in the receive buffer.
type facts struct {
	id         string
	country    string
	deviceType int32
	cur        []string
	imps       []imp
	rest       rest
}

type imp struct {
	id             string
	media          uint8
	videoW, videoH int32
	floor          float64
	floorCur       string
	private        bool
	deals          []offer
}

type offer struct {
	id       string
	hasFloor bool
	floor    float64
	floorCur string
	at       int32
	wseat    []string
	wadomain []string
}

// rest is what only a line item that can pay asks for.
type rest interface {
	bcat() []string
	acat() []string
	badv() []string
	bapp() []string
	wseat() []string
	bseat() []string
	cattax() int32
	secure(imp int) bool
	// multiplier is 1 where the impression names none.
	multiplier(imp int) float64
	fit(imp, media int) fit
}

// fit is what a medium of an impression asks of a creative.
type fit struct {
	mimes                    []string
	battr, api               []int32
	protocols, rqddurs       []int32
	minduration, maxduration *int32
	bySecond                 bool
	sizes                    [][2]int32
}

// next makes room for one more element, reusing what the memory held.
func next[T any](list []T) []T {
	if len(list) < cap(list) {
		return list[:len(list)+1]
	}
	var zero T
	return append(list, zero)
}

// decision is what one request came to: a reason, or bids.
type decision struct {
	reason int
	bids   []bid
}

type bid struct {
	Imp      string  `json:"imp"`
	Deal     *string `json:"deal"`
	LineItem string  `json:"line_item"`
	Creative string  `json:"creative"`
	Price    int64   `json:"price_micros"`
	Cur      string  `json:"cur"`
}

// write spells the decision as `nearbid decide` does, but for the number of the reason.
func (d *decision) write(out *json.Encoder, id string) error {
	if len(d.bids) == 0 {
		return out.Encode(map[string]string{"id": id, "no_bid": names[d.reason]})
	}
	return out.Encode(map[string]any{"id": id, "bids": d.bids})
}

// decide holds every line item against every market. Nothing is reserved: the budgets of a run stay
// what they were.
func (s *setup) decide(f *facts, out *decision) {
	out.reason, out.bids = invalidRequest, out.bids[:0]
	if f.id == "" || len(f.imps) == 0 {
		return
	}
	if !s.pays(f.cur) {
		out.reason = currency
		return
	}
	out.reason = deal
	for i := range f.imps {
		if f.imps[i].id == "" || shared(f.imps, i) {
			continue
		}
		for d := range f.imps[i].deals {
			if offer := &f.imps[i].deals[d]; offer.id != "" && !repeated(f.imps[i].deals, d) {
				s.market(f, i, offer, out)
			}
		}
		if !f.imps[i].private {
			s.market(f, i, nil, out)
		}
	}
}

func shared(imps []imp, at int) bool {
	for i := range imps {
		if i != at && imps[i].id == imps[at].id {
			return true
		}
	}
	return false
}

func repeated(deals []offer, at int) bool {
	for i := range deals[:at] {
		if deals[i].id == deals[at].id {
			return true
		}
	}
	return false
}

func (s *setup) pays(cur []string) bool {
	listed := false
	for _, c := range cur {
		c = strings.TrimSpace(c)
		if strings.EqualFold(c, s.Base) {
			return true
		}
		listed = listed || c != ""
	}
	return !listed && s.Base == "USD"
}

// market lets the best line item bid; line items are sorted by price.
func (s *setup) market(f *facts, at int, offer *offer, out *decision) {
	imp := &f.imps[at]
	least := s.floor(imp.floor, imp.floorCur)
	if offer != nil && offer.hasFloor {
		least = s.floor(offer.floor, offer.floorCur)
	}
	for i := range s.LineItems {
		li := &s.LineItems[i]
		price := li.CPM
		if offer != nil && offer.at == 3 && least > 0 {
			price = least
		}
		stage := s.stage(f, imp, offer, li, least, price)
		creative := ""
		if stage == passed {
			creative = fitting(f, at, li)
			if creative == "" {
				stage = blocked
			}
		}
		if stage == passed {
			out.bids = append(out.bids, bid{imp.id, nil, li.ID, creative, price, s.Base})
			if offer != nil {
				out.bids[len(out.bids)-1].Deal = &offer.id
			}
			return
		}
		out.reason = max(out.reason, stage)
	}
}

func (s *setup) stage(f *facts, imp *imp, offer *offer, li *lineItem, least, price int64) int {
	switch {
	case !li.Live:
		return inactive
	case !li.inMarket(offer):
		return deal
	case len(li.Countries) > 0 && !meetsCountry(li.Countries, f.country):
		return country
	case li.types != 0 && li.types>>uint(f.deviceType)&1 == 0:
		return deviceType
	case li.media&imp.media == 0:
		return mediaFormat
	case !li.VideoSize.admits(imp.videoW, imp.videoH):
		return videoSize
	case least < 0 || li.CPM < least:
		return floor
	case li.Available < (price+999)/1000:
		return budget
	case blockedBy(f, li):
		return blocked
	}
	return passed
}

func (li *lineItem) inMarket(offer *offer) bool {
	if offer == nil {
		return len(li.Deals) == 0
	}
	if !contains(li.Deals, offer.id) {
		return false
	}
	if len(offer.wseat) > 0 && !contains(offer.wseat, li.Seat) {
		return false
	}
	return len(offer.wadomain) == 0 || every(li.Adomain, offer.wadomain, domainUnder)
}

// meetsCountry compares with alpha-3 and alpha-2 codes alike: a target lists both.
func meetsCountry(targets []string, country string) bool {
	country = strings.TrimSpace(country)
	for _, target := range targets {
		if strings.EqualFold(target, country) {
			return true
		}
	}
	return false
}

func (v *videoBounds) admits(w, h int32) bool {
	if *v == (videoBounds{}) {
		return true
	}
	inside := func(least, at, most int32) bool { return least <= at && (most == 0 || at <= most) }
	return w > 0 && h > 0 && inside(v.MinW, w, v.MaxW) && inside(v.MinH, h, v.MaxH)
}

// floor is what a request asks at least, in micros of the base currency; below 0 nothing meets it.
func (s *setup) floor(units float64, of string) int64 {
	if math.IsNaN(units) || units > 1e6 {
		return -1
	}
	if units <= 0 {
		return 0
	}
	micros := int64(math.Round(units * 1e6))
	if float64(micros)/1e6 != units {
		micros = roundedUp(units)
	}
	if of = strings.ToUpper(strings.TrimSpace(of)); of == "" {
		of = "USD"
	}
	if of == s.Base {
		return micros
	}
	rate, known := s.Rates[of]
	if !known {
		return -1
	}
	hi, lo := bits.Mul64(uint64(micros), uint64(rate))
	lo, carry := bits.Add64(lo, 999_999, 0)
	if hi += carry; hi >= 1_000_000 {
		return -1
	}
	converted, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(converted)
}

// roundedUp reads the shortest decimal of a double as micros.
func roundedUp(units float64) int64 {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(units, 'f', -1, 64), ".")
	kept := (fraction + "000000")[:6]
	micros, err := strconv.ParseInt(whole+kept, 10, 64)
	if err != nil {
		return -1
	}
	if len(fraction) > 6 && strings.Trim(fraction[6:], "0") != "" {
		micros++
	}
	return micros
}

// blockedBy holds a line item against the publisher's rules.
func blockedBy(f *facts, li *lineItem) bool {
	if some(li.Adomain, f.rest.badv(), domainUnder) {
		return true
	}
	if li.Bundle != "" && contains(f.rest.bapp(), li.Bundle) {
		return true
	}
	if wseat := f.rest.wseat(); len(wseat) > 0 && !contains(wseat, li.Seat) {
		return true
	}
	return contains(f.rest.bseat(), li.Seat) || blockedCategory(f.rest, li)
}

func blockedCategory(r rest, li *lineItem) bool {
	bcat, acat := r.bcat(), r.acat()
	if len(bcat) == 0 && len(acat) == 0 {
		return false
	}
	if r.cattax() != li.Cattax {
		return true
	}
	under := func(cat, entry string) bool {
		return cat == entry || li.Cattax == 1 && strings.HasPrefix(cat, entry+"-")
	}
	if some(li.Cat, bcat, under) {
		return true
	}
	return len(acat) > 0 && (len(li.Cat) == 0 || !every(li.Cat, acat, under))
}

// fitting is the line item's first creative that the impression takes; empty if none is.
func fitting(f *facts, at int, li *lineItem) string {
	if f.rest.multiplier(at) != 1 {
		return ""
	}
	for i := range li.Creatives {
		if c := &li.Creatives[i]; f.imps[at].media>>c.Media&1 == 1 && c.fits(f.rest, at) {
			return c.ID
		}
	}
	return ""
}

func (c *creative) fits(r rest, at int) bool {
	if r.secure(at) && !c.Secure {
		return false
	}
	asks := r.fit(at, c.Media)
	if len(asks.mimes) > 0 && c.Media != native && !listsFolded(asks.mimes, c.Mime) {
		return false
	}
	for _, attr := range c.Attr {
		if contains(asks.battr, attr) {
			return false
		}
	}
	for _, api := range c.APIs {
		if !contains(asks.api, api) {
			return false
		}
	}
	switch c.Media {
	case banner:
		return contains(asks.sizes, [2]int32{c.W, c.H})
	case video, audio:
		return !asks.bySecond && c.lasts(&asks) &&
			(len(asks.protocols) == 0 || contains(asks.protocols, c.Protocol))
	}
	return true
}

func (c *creative) lasts(asks *fit) bool {
	if len(asks.rqddurs) > 0 {
		return contains(asks.rqddurs, c.Duration)
	}
	return (asks.minduration == nil || *asks.minduration <= c.Duration) &&
		(asks.maxduration == nil || c.Duration <= *asks.maxduration)
}

func contains[T comparable](list []T, of T) bool {
	for i := range list {
		if list[i] == of {
			return true
		}
	}
	return false
}

func listsFolded(list []string, of string) bool {
	for _, entry := range list {
		if strings.EqualFold(entry, of) {
			return true
		}
	}
	return false
}

func some(of, entries []string, under func(one, entry string) bool) bool {
	for _, one := range of {
		for _, entry := range entries {
			if under(one, entry) {
				return true
			}
		}
	}
	return false
}

func every(of, entries []string, under func(one, entry string) bool) bool {
	for i := range of {
		if !some(of[i:i+1], entries, under) {
			return false
		}
	}
	return true
}

func domainUnder(domain, entry string) bool {
	domain, entry = folded(domain), folded(entry)
	return entry != "" && (domain == entry || strings.HasSuffix(domain, "."+entry))
}

func folded(domain string) string {
	domain = strings.ToLower(strings.TrimSpace(domain))
	domain = strings.TrimPrefix(strings.TrimSuffix(domain, "."), ".")
	if bare, cut := strings.CutPrefix(domain, "www."); cut && strings.Contains(bare, ".") {
		return bare
	}
	return domain
}
