#!/bin/sh
# Makes the code of schema/openrtb.fbs in generated/; protobuf is read from schema/ as the client runs.
# flatc writes TypeScript: esbuild takes the types off. Needs: npm ci, flatc 2.0.8 or later.
set -eu
cd "$(dirname "$0")"
tables=generated/nearbid/openrtb

rm -rf generated
flatc --ts -o generated ../../schema/openrtb.fbs
node_modules/.bin/esbuild "$tables"/*.ts --platform=node --format=cjs --log-level=warning --outdir="$tables"
