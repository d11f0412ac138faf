#!/bin/sh
# Makes the Go code of schema/ here: openrtb/ and v1/ (protobuf and the stub), flat/ (FlatBuffers).
# Needs: go, protoc 3.15 or later, flatc 2.0.8 or later.
set -eu
cd "$(dirname "$0")"
schema=../../schema

GOBIN="$PWD/bin" go install tool
PATH="$PWD/bin:$PATH" protoc -I "$schema" \
    --go_out=. --go_opt=module=nearbid --go-grpc_out=. --go-grpc_opt=module=nearbid \
    openrtb.proto bidder.proto
flatc --go --go-namespace flat "$schema/openrtb.fbs"
