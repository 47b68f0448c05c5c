// A loop carries a block that is loaded in larger parts than it is stored in.
// OUTCOME: wrong C == A
#load = #xegpu.layout<sg_layout = [2, 1], sg_data = [32, 32], inst_data = [32, 32]>
#store = #xegpu.layout<sg_layout = [2, 1], sg_data = [32, 32], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x32xf16>, %C: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %ta = xegpu.create_nd_tdesc %A : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16>
      %tc = xegpu.create_nd_tdesc %C : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16>
      %first = xegpu.load_nd %ta[%c0, %c0] <{layout = #load}> : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
      %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %first) -> (vector<64x32xf16>) {
        xegpu.store_nd %a, %tc[%c0, %c0] <{layout = #store}> : vector<64x32xf16>, !xegpu.tensor_desc<64x32xf16>
        %next = xegpu.load_nd %ta[%c0, %c0] <{layout = #load}> : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
        scf.yield %next : vector<64x32xf16>
      }
      gpu.return
    }
  }
}
