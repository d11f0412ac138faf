#!/bin/sh
# Builds the program `peer` here: first the code that flatc, protoc and `structs` make from schema/,
# into generated/ (not committed: it is 20,000 lines of others' making), then the program.
# Needs: go, flatc (Debian: flatbuffers-compiler), protoc (Debian: protobuf-compiler).
set -eu
cd "$(dirname "$0")"
schema=../../schema
made=generated

rm -rf "$made"
mkdir -p "$made/bin" "$made/pb" "$made/structs"
go build -o "$made/bin/protoc-gen-go" google.golang.org/protobuf/cmd/protoc-gen-go

flatc --go -o "$made" "$schema/openrtb.fbs"
# flatc writes a file for each table of the namespace nearbid.openrtb.
mv "$made/nearbid/openrtb" "$made/fbs"
rmdir "$made/nearbid"

protoc -I "$schema" --plugin="$made/bin/protoc-gen-go" \
    --go_out="$made/pb" --go_opt=paths=source_relative \
    --go_opt=Mopenrtb.proto=nearbid/peers/generated/pb \
    --descriptor_set_out="$made/openrtb.binpb" openrtb.proto

go run ./structs <"$made/openrtb.binpb" >"$made/structs/structs.go"
go build -o peer .
