#!/bin/sh
# Share the results of Triton's autotuner (cache_results=True) between machines:
#   examples/triton_cache.sh push|pull URL [DEVICE DRIVER VERSION]
# DEVICE is a PCI id such as 8086:E211, by default that of this machine; VERSION is that of triton.
set -eu
what=$1 url=$2 device=${3:-auto} driver=${4:-}
version=${5:-$(python3 -c 'import triton; print(triton.__version__)')}
cache=${TRITON_CACHE_DIR:-$HOME/.triton/cache}
mkdir -p "$cache"
xetune --server "$url" records "$what" triton "$cache" --device "$device" ${driver:+--driver "$driver"} \
  --version "triton=$version"
