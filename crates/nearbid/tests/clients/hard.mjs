// What a short client does not show: grpc-js's deadlines, cancellation, big messages, metadata and
// authorities against a running bidder, which is well after each. clients.rs puts this file beside
// clients/node's bid.mjs and runs it with the bidder's address and process id.

import assert from "node:assert";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const schema = new URL("../../schema", import.meta.url).pathname;
const { nearbid } = grpc.loadPackageDefinition(loadSync("bidder.proto", { includeDirs: [schema] }));
const [address, pid] = process.argv.slice(2);
/** Longer than anything here takes on a busy machine. */
const PATIENCE_MS = 60_000;
const BIG = "x".repeat(200 << 10);
const { DEADLINE_EXCEEDED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, CANCELLED } = grpc.status;

function dial(options = {}) {
  return new nearbid.v1.Bidder(address, grpc.credentials.createInsecure(), options);
}

function bid(client, id, { customdata, timeoutMs = PATIENCE_MS, metadata = new grpc.Metadata() } = {}) {
  const request = {
    id,
    imp: [{ id: "1", banner: { w: 300, h: 250 } }],
    device: { devicetype: 4, geo: { country: "USA" } },
    user: { customdata },
  };
  return new Promise((resolve, reject) => {
    client.bid(request, metadata, { deadline: Date.now() + timeoutMs }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}

async function wantBid(client, id, options) {
  const answer = await bid(client, id, options);
  assert.equal(answer.id, id);
  assert.equal(answer.seatbid.length, 1);
}

async function wantCode(code, call) {
  await assert.rejects(call, (error) => error.code === code);
}

function atOnce(times, task) {
  return Promise.all(Array.from({ length: times }, (_, i) => task(i)));
}

const checks = {
  async "many at once"(client) {
    await atOnce(100, async (caller) => {
      for (let call = 0; call < 20; call++) await wantBid(client, `${caller}-${call}`);
    });
  },

  async "big messages"(client) {
    await atOnce(8, () => wantBid(client, "big", { customdata: BIG }));
    await wantCode(RESOURCE_EXHAUSTED, bid(client, "too big", { customdata: BIG + BIG }));
    await wantBid(client, "after");
  },

  async metadata(client) {
    const odd = new grpc.Metadata();
    odd.set("exchange", "a b, c");
    odd.set("trace-bin", Buffer.from([0, 255]));
    odd.set("long", "y".repeat(4096));
    await wantBid(client, "odd", { metadata: odd });
    const torn = new grpc.Metadata();
    torn.set("nearbid-format", "avro");
    await wantCode(INVALID_ARGUMENT, bid(client, "torn", { metadata: torn }));
  },

  // A bidder that has no CPU for longer than its exchange waits finds calls that are cancelled.
  async deadlines(client) {
    const late = () => bid(client, "late", { timeoutMs: 200 });
    const misses = (error) => assert.equal(error.code, DEADLINE_EXCEEDED) ?? true;
    process.kill(Number(pid), "SIGSTOP");
    try {
      // The signal takes a moment.
      while (!(await late().then(() => false, misses)));
      await atOnce(10, () => wantCode(DEADLINE_EXCEEDED, late()));
    } finally {
      process.kill(Number(pid), "SIGCONT");
    }
    await wantBid(client, "after");
  },

  async cancellation(client) {
    const same = (bytes) => bytes;
    const path = "/grpc.health.v1.Health/Watch";
    const watch = client.makeServerStreamRequest(path, same, same, Buffer.alloc(0));
    const ended = new Promise((resolve) => watch.on("error", resolve));
    const status = await new Promise((resolve) => watch.on("data", resolve));
    assert.deepEqual([...status], [8, 1]);
    watch.cancel();
    assert.equal((await ended).code, CANCELLED);
    await wantBid(client, "after");
  },

  // Libraries differ in what they call a server that has a path and no name.
  async authorities() {
    for (const authority of ["localhost", "run%2Fbid.sock", "bidder:9090"]) {
      const client = dial({ "grpc.default_authority": authority, "grpc.use_local_subchannel_pool": 1 });
      await wantBid(client, authority);
      client.close();
    }
  },
};

const client = dial();
for (const [name, check] of Object.entries(checks)) {
  await check(client);
  console.log(`${name}: well`);
}
client.close();
