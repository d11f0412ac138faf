// The shortest exchange in Node: one bid request, as protobuf and as FlatBuffers.
//
//     node bid.mjs ADDRESS [COUNTRY]

import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { Builder, ByteBuffer } from "flatbuffers";
import { Banner } from "./generated/nearbid/openrtb/banner.js";
import { BidRequest } from "./generated/nearbid/openrtb/bid-request.js";
import { BidResponse } from "./generated/nearbid/openrtb/bid-response.js";
import { Device } from "./generated/nearbid/openrtb/device.js";
import { Geo } from "./generated/nearbid/openrtb/geo.js";
import { Imp } from "./generated/nearbid/openrtb/imp.js";

const schema = new URL("../../schema", import.meta.url).pathname;
const { nearbid } = grpc.loadPackageDefinition(loadSync("bidder.proto", { includeDirs: [schema] }));

// The first call also connects. An exchange gives each what is left of its auction.
const deadline = () => ({ deadline: Date.now() + 5_000 });

function bidProtobuf(client, country) {
  const request = {
    id: "request-1",
    imp: [{ id: "1", banner: { w: 300, h: 250 } }],
    device: { devicetype: 4, geo: { country } },
  };
  return new Promise((resolve, reject) => {
    client.bid(request, deadline(), (error, answer) => {
      if (error) return reject(error);
      const bid = answer.seatbid?.[0]?.bid[0];
      resolve(
        bid
          ? `protobuf: bid ${bid.price} ${answer.cur}, id ${bid.id}`
          : `protobuf: no bid, nbr ${answer.nbr}`,
      );
    });
  });
}

function bidFlatBuffers(client, country) {
  // grpc-js sets no content-subtype; the metadata says what the bytes are.
  const metadata = new grpc.Metadata();
  metadata.set("nearbid-format", "flatbuffers");
  const path = nearbid.v1.Bidder.service.Bid.path;
  const same = (bytes) => bytes;
  const builder = new Builder(1024); // clear() makes it ready for the next request.
  const request = Buffer.from(build(builder, country));
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, request, metadata, deadline(), (error, reply) => {
      if (error) return reject(error);
      const answer = BidResponse.getRootAsBidResponse(new ByteBuffer(reply));
      const bid = answer.seatbid(0)?.bid(0);
      resolve(
        bid
          ? `flatbuffers: bid ${bid.price()} ${answer.cur()}, id ${bid.id()}`
          : `flatbuffers: no bid, nbr ${answer.nbr()}`,
      );
    });
  });
}

/** Builds a request from the inside out: what a table refers to stands before it. */
function build(b, country) {
  const [requestId, impId, code] = ["request-1", "1", country].map((s) => b.createString(s));

  Banner.startBanner(b);
  Banner.addW(b, 300);
  Banner.addH(b, 250);
  const banner = Banner.endBanner(b);

  Imp.startImp(b);
  Imp.addId(b, impId);
  Imp.addBanner(b, banner);
  const imps = BidRequest.createImpVector(b, [Imp.endImp(b)]);

  Geo.startGeo(b);
  Geo.addCountry(b, code);
  const geo = Geo.endGeo(b);

  Device.startDevice(b);
  Device.addDevicetype(b, 4);
  Device.addGeo(b, geo);
  const device = Device.endDevice(b);

  BidRequest.startBidRequest(b);
  BidRequest.addId(b, requestId);
  BidRequest.addImp(b, imps);
  BidRequest.addDevice(b, device);
  b.finish(BidRequest.endBidRequest(b));
  return b.asUint8Array();
}

const [address, country = "USA"] = process.argv.slice(2);
if (!address) {
  console.error("usage: node bid.mjs ADDRESS [COUNTRY]");
  console.error("ADDRESS is unix:///run/nearbid/bid.sock, or host:port");
  process.exit(2);
}
// Keep the client: it connects once and serves any number of calls.
const client = new nearbid.v1.Bidder(address, grpc.credentials.createInsecure());
console.log(await bidProtobuf(client, country));
console.log(await bidFlatBuffers(client, country));
client.close();
