#!/bin/sh
# Makes the Python code of schema/ in generated/: protobuf and the stub, and FlatBuffers.
# Needs: PYTHON (python3 unless it is set) with requirements.txt installed, flatc 2.0.8 or later.
set -eu
cd "$(dirname "$0")"
schema=../../schema

rm -rf generated
mkdir generated
"${PYTHON:-python3}" -m grpc_tools.protoc -I "$schema" \
    --python_out=generated --grpc_python_out=generated openrtb.proto bidder.proto
flatc --python -o generated "$schema/openrtb.fbs"
