package main

import (
	"encoding/json"

	"github.com/bytedance/sonic"
	"google.golang.org/protobuf/proto"

	pb "nearbid/peers/generated/pb"
	"nearbid/peers/generated/structs"
)

func number(value *int32) int32 {
	if value == nil {
		return 0
	}
	return *value
}

func isSet(value *bool) bool { return value != nil && *value }

func taxonomy(value *int32) int32 {
	if value == nil {
		return 1
	}
	return *value
}

// deviceNumber is 0 for what is no device type, which meets no target.
func deviceNumber(value *int32) int32 {
	if n := number(value); n >= 1 && n <= 8 {
		return n
	}
	return 0
}

// protobuf reads the whole message with protobuf-go.
type protobuf struct{ request *pb.BidRequest }

func (r *protobuf) read(buffer []byte, f *facts) error {
	r.request = new(pb.BidRequest)
	if err := proto.Unmarshal(buffer, r.request); err != nil {
		return err
	}
	f.rest = r
	f.id, f.cur = r.request.GetId(), r.request.Cur
	f.country = r.request.GetDevice().GetGeo().GetCountry()
	f.deviceType = 0
	if device := r.request.Device; device != nil {
		f.deviceType = deviceNumber(device.Devicetype)
	}
	f.imps = f.imps[:0]
	for i, from := range r.request.Imp {
		f.imps = next(f.imps)
		r.readImp(from, &f.imps[i])
	}
	return nil
}

func (r *protobuf) readImp(from *pb.Imp, to *imp) {
	*to = imp{
		id:       from.GetId(),
		floor:    from.GetBidfloor(),
		floorCur: from.GetBidfloorcur(),
		videoW:   from.GetVideo().GetW(),
		videoH:   from.GetVideo().GetH(),
		private:  from.GetPmp().GetPrivateAuction(),
		deals:    to.deals[:0],
		media:    offered(from.Banner != nil, from.Video != nil, from.Audio != nil, from.Native != nil),
	}
	for _, d := range from.GetPmp().GetDeals() {
		to.deals = append(to.deals, offer{
			id: d.GetId(), hasFloor: d.Bidfloor != nil, floor: d.GetBidfloor(),
			floorCur: d.GetBidfloorcur(), at: d.GetAt(), wseat: d.Wseat, wadomain: d.Wadomain,
		})
	}
}

func offered(media ...bool) (set uint8) {
	for i, offers := range media {
		if offers {
			set |= 1 << i
		}
	}
	return set
}

func (r *protobuf) bcat() []string     { return r.request.Bcat }
func (r *protobuf) acat() []string     { return r.request.Acat }
func (r *protobuf) badv() []string     { return r.request.Badv }
func (r *protobuf) bapp() []string     { return r.request.Bapp }
func (r *protobuf) wseat() []string    { return r.request.Wseat }
func (r *protobuf) bseat() []string    { return r.request.Bseat }
func (r *protobuf) cattax() int32      { return taxonomy(r.request.Cattax) }
func (r *protobuf) secure(at int) bool { return r.request.Imp[at].GetSecure() }

func (r *protobuf) multiplier(at int) float64 {
	if qty := r.request.Imp[at].Qty; qty != nil && qty.Multiplier != nil {
		return *qty.Multiplier
	}
	return 1
}

func (r *protobuf) fit(at, medium int) fit {
	imp := r.request.Imp[at]
	switch medium {
	case banner:
		b := imp.Banner
		asks := fit{mimes: b.Mimes, battr: b.Battr, api: b.Api}
		for _, f := range b.Format {
			asks.sizes = append(asks.sizes, [2]int32{f.GetW(), f.GetH()})
		}
		if len(b.Format) == 0 {
			asks.sizes = [][2]int32{{b.GetW(), b.GetH()}}
		}
		return asks
	case video:
		v := imp.Video
		return fit{mimes: v.Mimes, battr: v.Battr, api: v.Api, protocols: v.Protocols,
			rqddurs: v.Rqddurs, minduration: v.Minduration, maxduration: v.Maxduration,
			bySecond: v.Mincpmpersec != nil || len(v.Durfloors) > 0}
	case audio:
		a := imp.Audio
		return fit{mimes: a.Mimes, battr: a.Battr, api: a.Api, protocols: a.Protocols,
			rqddurs: a.Rqddurs, minduration: a.Minduration, maxduration: a.Maxduration,
			bySecond: a.Mincpmpersec != nil || len(a.Durfloors) > 0}
	}
	return fit{battr: imp.Native.Battr, api: imp.Native.Api}
}

// text reads the whole JSON text into structs, with encoding/json or with bytedance/sonic.
type text struct {
	unmarshal func([]byte, any) error
	request   *structs.BidRequest
}

func standard() *text  { return &text{unmarshal: json.Unmarshal} }
func bytedance() *text { return &text{unmarshal: sonic.Unmarshal} }

func (r *text) read(buffer []byte, f *facts) error {
	r.request = new(structs.BidRequest)
	if err := r.unmarshal(buffer, r.request); err != nil {
		return err
	}
	f.rest = r
	f.id, f.cur = r.request.Id, r.request.Cur
	f.country, f.deviceType = "", 0
	if device := r.request.Device; device != nil {
		f.deviceType = deviceNumber(device.Devicetype)
		if device.Geo != nil {
			f.country = device.Geo.Country
		}
	}
	f.imps = f.imps[:0]
	for i := range r.request.Imp {
		f.imps = next(f.imps)
		r.readImp(&r.request.Imp[i], &f.imps[i])
	}
	return nil
}

func (r *text) readImp(from *structs.Imp, to *imp) {
	*to = imp{
		id:       from.Id,
		floorCur: from.Bidfloorcur,
		deals:    to.deals[:0],
		media:    offered(from.Banner != nil, from.Video != nil, from.Audio != nil, from.Native != nil),
	}
	if from.Bidfloor != nil {
		to.floor = *from.Bidfloor
	}
	if from.Video != nil {
		to.videoW, to.videoH = number(from.Video.W), number(from.Video.H)
	}
	if from.Pmp == nil {
		return
	}
	to.private = set(from.Pmp.PrivateAuction)
	for i := range from.Pmp.Deals {
		d := &from.Pmp.Deals[i]
		o := offer{id: d.Id, floorCur: d.Bidfloorcur, at: number(d.At), wseat: d.Wseat, wadomain: d.Wadomain}
		if d.Bidfloor != nil {
			o.hasFloor, o.floor = true, *d.Bidfloor
		}
		to.deals = append(to.deals, o)
	}
}

func set(flag *int8) bool { return flag != nil && *flag != 0 }

func (r *text) bcat() []string     { return r.request.Bcat }
func (r *text) acat() []string     { return r.request.Acat }
func (r *text) badv() []string     { return r.request.Badv }
func (r *text) bapp() []string     { return r.request.Bapp }
func (r *text) wseat() []string    { return r.request.Wseat }
func (r *text) bseat() []string    { return r.request.Bseat }
func (r *text) cattax() int32      { return taxonomy(r.request.Cattax) }
func (r *text) secure(at int) bool { return set(r.request.Imp[at].Secure) }

func (r *text) multiplier(at int) float64 {
	if qty := r.request.Imp[at].Qty; qty != nil && qty.Multiplier != nil {
		return *qty.Multiplier
	}
	return 1
}

func (r *text) fit(at, medium int) fit {
	imp := &r.request.Imp[at]
	switch medium {
	case banner:
		b := imp.Banner
		asks := fit{mimes: b.Mimes, battr: b.Battr, api: b.Api}
		for _, f := range b.Format {
			asks.sizes = append(asks.sizes, [2]int32{number(f.W), number(f.H)})
		}
		if len(b.Format) == 0 {
			asks.sizes = [][2]int32{{number(b.W), number(b.H)}}
		}
		return asks
	case video:
		v := imp.Video
		return fit{mimes: v.Mimes, battr: v.Battr, api: v.Api, protocols: v.Protocols,
			rqddurs: v.Rqddurs, minduration: v.Minduration, maxduration: v.Maxduration,
			bySecond: v.Mincpmpersec != nil || len(v.Durfloors) > 0}
	case audio:
		a := imp.Audio
		return fit{mimes: a.Mimes, battr: a.Battr, api: a.Api, protocols: a.Protocols,
			rqddurs: a.Rqddurs, minduration: a.Minduration, maxduration: a.Maxduration,
			bySecond: a.Mincpmpersec != nil || len(a.Durfloors) > 0}
	}
	return fit{battr: imp.Native.Battr, api: imp.Native.Api}
}
