#!/bin/sh
# Share the results of Kernel Tuner, and look up the fastest; kernel_tuner_t4.json has invented times.
#   examples/kernel_tuner_t4.sh URL [FILE DEVICE DRIVER]
# DEVICE is a PCI id such as 8086:E211, by default that of this machine. A T4 file names neither kernel nor problem.
set -eu
url=$1 file=${2:-$(dirname "$0")/kernel_tuner_t4.json} device=${3:-auto} driver=${4:-}
problem='{"n": 4096}'
xetune --server "$url" records push t4 "$file" --kernel vector_add --problem "$problem" --best 3 \
  --device "$device" ${driver:+--driver "$driver"}
xetune --server "$url" records find --tuner kernel-tuner --kernel vector_add --problem "$problem" \
  --device "$device" ${driver:+--driver "$driver"}
