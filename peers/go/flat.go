package main

import (
	"unsafe"

	fbs "nearbid/peers/generated/fbs"
)

// flat reads FlatBuffers in place, with the accessors that flatc generates. They trust the buffer:
// Go has no verifier.
type flat struct {
	request fbs.BidRequest
	facts   *facts

	device fbs.Device
	geo    fbs.Geo
	imp    fbs.Imp
	video  fbs.Video
	audio  fbs.Audio
	banner fbs.Banner
	native fbs.Native
	pmp    fbs.Pmp
	deal   fbs.Deal
}

func (r *flat) read(buffer []byte, f *facts) error {
	root := fbs.GetRootAsBidRequest(buffer, 0)
	r.request, r.facts = *root, f
	f.rest = r
	f.id = str(r.request.Id())
	f.country, f.deviceType = "", 0
	if device := r.request.Device(&r.device); device != nil {
		f.deviceType = deviceNumber(device.Devicetype())
		if geo := device.Geo(&r.geo); geo != nil {
			f.country = str(geo.Country())
		}
	}
	f.cur = f.cur[:0]
	for i := range r.request.CurLength() {
		f.cur = append(f.cur, str(r.request.Cur(i)))
	}
	f.imps = f.imps[:0]
	for i := range r.request.ImpLength() {
		f.imps = next(f.imps)
		if r.request.Imp(&r.imp, i) {
			r.readImp(&f.imps[i])
		}
	}
	return nil
}

func (r *flat) readImp(to *imp) {
	*to = imp{deals: to.deals[:0], id: str(r.imp.Id()), floorCur: str(r.imp.Bidfloorcur())}
	if floor := r.imp.Bidfloor(); floor != nil {
		to.floor = *floor
	}
	if r.imp.Banner(&r.banner) != nil {
		to.media |= 1 << banner
	}
	if r.imp.Audio(&r.audio) != nil {
		to.media |= 1 << audio
	}
	if r.imp.Native(&r.native) != nil {
		to.media |= 1 << native
	}
	if player := r.imp.Video(&r.video); player != nil {
		to.media |= 1 << video
		to.videoW, to.videoH = number(player.W()), number(player.H())
	}
	if pmp := r.imp.Pmp(&r.pmp); pmp != nil {
		to.private = isSet(pmp.PrivateAuction())
		for i := range pmp.DealsLength() {
			to.deals = next(to.deals)
			if pmp.Deals(&r.deal, i) {
				r.readDeal(&to.deals[i])
			}
		}
	}
}

func (r *flat) readDeal(to *offer) {
	*to = offer{
		id:       str(r.deal.Id()),
		floorCur: str(r.deal.Bidfloorcur()),
		at:       number(r.deal.At()),
		wseat:    strs(to.wseat[:0], r.deal.WseatLength(), r.deal.Wseat),
		wadomain: strs(to.wadomain[:0], r.deal.WadomainLength(), r.deal.Wadomain),
	}
	if floor := r.deal.Bidfloor(); floor != nil {
		to.hasFloor, to.floor = true, *floor
	}
}

// str is a string of the receive buffer, which outlives the facts.
func str(bytes []byte) string {
	return unsafe.String(unsafe.SliceData(bytes), len(bytes))
}

func strs(to []string, count int, at func(int) []byte) []string {
	for i := range count {
		to = append(to, str(at(i)))
	}
	return to
}

func ints(count int, at func(int) int32) []int32 {
	var to []int32
	for i := range count {
		to = append(to, at(i))
	}
	return to
}

func (r *flat) bcat() []string  { return strs(nil, r.request.BcatLength(), r.request.Bcat) }
func (r *flat) acat() []string  { return strs(nil, r.request.AcatLength(), r.request.Acat) }
func (r *flat) badv() []string  { return strs(nil, r.request.BadvLength(), r.request.Badv) }
func (r *flat) bapp() []string  { return strs(nil, r.request.BappLength(), r.request.Bapp) }
func (r *flat) wseat() []string { return strs(nil, r.request.WseatLength(), r.request.Wseat) }
func (r *flat) bseat() []string { return strs(nil, r.request.BseatLength(), r.request.Bseat) }
func (r *flat) cattax() int32   { return taxonomy(r.request.Cattax()) }

func (r *flat) secure(at int) bool {
	return r.request.Imp(&r.imp, at) && isSet(r.imp.Secure())
}

func (r *flat) multiplier(at int) float64 {
	var qty fbs.Qty
	if r.request.Imp(&r.imp, at) && r.imp.Qty(&qty) != nil {
		if multiplier := qty.Multiplier(); multiplier != nil {
			return *multiplier
		}
	}
	return 1
}

func (r *flat) fit(at, medium int) fit {
	r.request.Imp(&r.imp, at)
	switch medium {
	case banner:
		return r.fitBanner(r.imp.Banner(&r.banner))
	case video:
		v := r.imp.Video(&r.video)
		return fit{
			mimes:       strs(nil, v.MimesLength(), v.Mimes),
			battr:       ints(v.BattrLength(), v.Battr),
			api:         ints(v.ApiLength(), v.Api),
			protocols:   ints(v.ProtocolsLength(), v.Protocols),
			rqddurs:     ints(v.RqddursLength(), v.Rqddurs),
			minduration: v.Minduration(),
			maxduration: v.Maxduration(),
			bySecond:    v.Mincpmpersec() != nil || v.DurfloorsLength() > 0,
		}
	case audio:
		a := r.imp.Audio(&r.audio)
		return fit{
			mimes:       strs(nil, a.MimesLength(), a.Mimes),
			battr:       ints(a.BattrLength(), a.Battr),
			api:         ints(a.ApiLength(), a.Api),
			protocols:   ints(a.ProtocolsLength(), a.Protocols),
			rqddurs:     ints(a.RqddursLength(), a.Rqddurs),
			minduration: a.Minduration(),
			maxduration: a.Maxduration(),
			bySecond:    a.Mincpmpersec() != nil || a.DurfloorsLength() > 0,
		}
	}
	n := r.imp.Native(&r.native)
	return fit{battr: ints(n.BattrLength(), n.Battr), api: ints(n.ApiLength(), n.Api)}
}

func (r *flat) fitBanner(b *fbs.Banner) fit {
	asks := fit{
		mimes: strs(nil, b.MimesLength(), b.Mimes),
		battr: ints(b.BattrLength(), b.Battr),
		api:   ints(b.ApiLength(), b.Api),
	}
	var format fbs.Format
	for i := range b.FormatLength() {
		if b.Format(&format, i) {
			asks.sizes = append(asks.sizes, [2]int32{number(format.W()), number(format.H())})
		}
	}
	if b.FormatLength() == 0 {
		asks.sizes = [][2]int32{{number(b.W()), number(b.H())}}
	}
	return asks
}
