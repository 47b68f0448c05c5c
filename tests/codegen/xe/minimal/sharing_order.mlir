// f16 by sub-groups that share parts, numbered by columns, stored by a layout of other parts.
#shared = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 32], order = [0, 1]>
#all = #xegpu.layout<sg_layout = [4, 1], sg_data = [32, 64], order = [0, 1]>
#columns = #xegpu.layout<sg_layout = [1, 4], sg_data = [32, 16]>
gpu.module @m {
  gpu.func @k(%a: memref<32x64xf16>, %b: memref<32x64xf16>, %c: memref<32x64xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %ta = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<32x64xf16, #shared>
    %tb = xegpu.create_nd_tdesc %b : memref<32x64xf16> -> !xegpu.tensor_desc<32x64xf16, #columns>
    %tc = xegpu.create_nd_tdesc %c : memref<32x64xf16> -> !xegpu.tensor_desc<32x64xf16, #all>
    %v = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<32x64xf16, #shared> -> vector<32x64xf16>
    xegpu.store_nd %v, %tb[0, 0] : vector<32x64xf16>, !xegpu.tensor_desc<32x64xf16, #columns>
    %w = arith.addf %v, %v : vector<32x64xf16>
    xegpu.store_nd %w, %tc[0, 0] : vector<32x64xf16>, !xegpu.tensor_desc<32x64xf16, #all>
    gpu.return
  }
}
