// XeGPU's operations at the level of work-items, by the maps that the RFC gives for ARC: sub-groups of 8.
#one = #xegpu.sg_map<wi_layout = [1, 8], wi_data = [1, 1]>
#pair = #xegpu.sg_map<wi_layout = [1, 8], wi_data = [1, 2]>
#quad = #xegpu.sg_map<wi_layout = [1, 8], wi_data = [1, 4]>
#words = #xegpu.sg_map<wi_layout = [1, 8], wi_data = [2, 1]>
#bytes = #xegpu.sg_map<wi_layout = [1, 8], wi_data = [4, 1]>
#turned = #xegpu.sg_map<wi_layout = [8, 1], wi_data = [1, 1]>
#chunks = #xegpu.sg_map<wi_layout = [8, 1], wi_data = [1, 2]>

// -----
// xegpu.load_nd: 8 work-items, $KIND
// KIND = f32 i32
// lanes 8
// work-items
gpu.func @k(%A: memref<16x48x$KIND>, %R: memref<24x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$KIND> -> !xegpu.tensor_desc<8x8x$KIND, #one>
  %tr = xegpu.create_nd_tdesc %R : memref<24x48x$KIND> -> !xegpu.tensor_desc<8x8x$KIND, #one>
  %v = xegpu.load_nd %ta[8, 24] : !xegpu.tensor_desc<8x8x$KIND, #one> -> vector<8x1x$KIND>
  xegpu.store_nd %v, %tr[16, 8] : vector<8x1x$KIND>, !xegpu.tensor_desc<8x8x$KIND, #one>
  gpu.return
}
// -----
// xegpu.load_nd: 8 work-items, pairs of $KIND
// KIND = f16 bf16
// lanes 8
// work-items
gpu.func @k(%A: memref<16x48x$KIND>, %R: memref<24x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$KIND> -> !xegpu.tensor_desc<8x16x$KIND, #pair>
  %tr = xegpu.create_nd_tdesc %R : memref<24x48x$KIND> -> !xegpu.tensor_desc<8x16x$KIND, #pair>
  %v = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16x$KIND, #pair> -> vector<8x2x$KIND>
  xegpu.store_nd %v, %tr[16, 32] : vector<8x2x$KIND>, !xegpu.tensor_desc<8x16x$KIND, #pair>
  gpu.return
}
// -----
// xegpu.load_nd: 8 work-items, words of i8
// lanes 8
// work-items
gpu.func @k(%A: memref<16x96xi8>, %R: memref<24x96xi8>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xi8> -> !xegpu.tensor_desc<8x32xi8, #quad>
  %tr = xegpu.create_nd_tdesc %R : memref<24x96xi8> -> !xegpu.tensor_desc<8x32xi8, #quad>
  %v = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x32xi8, #quad> -> vector<8x4xi8>
  xegpu.store_nd %v, %tr[16, 64] : vector<8x4xi8>, !xegpu.tensor_desc<8x32xi8, #quad>
  gpu.return
}
// -----
// xegpu.load_nd: 8 work-items, transposed
// lanes 8
// work-items
gpu.func @k(%A: memref<16x48xf32>, %R: memref<24x40xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<8x8xf32, #turned>
  %tr = xegpu.create_nd_tdesc %R : memref<24x40xf32> -> !xegpu.tensor_desc<8x8xf32, #one>
  %v = xegpu.load_nd %ta[8, 24] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<8x8xf32, #turned> -> vector<8x1xf32>
  xegpu.store_nd %v, %tr[16, 8] : vector<8x1xf32>, !xegpu.tensor_desc<8x8xf32, #one>
  gpu.return
}
// -----
// xegpu.load_nd: 8 work-items, outside of the matrix
// lanes 8
// work-items
gpu.func @k(%A: memref<13x40xf32>, %R: memref<11x40xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<13x40xf32> -> !xegpu.tensor_desc<8x8xf32, #one>
  %tr = xegpu.create_nd_tdesc %R : memref<11x40xf32> -> !xegpu.tensor_desc<8x8xf32, #one>
  %v = xegpu.load_nd %ta[8, 36] : !xegpu.tensor_desc<8x8xf32, #one> -> vector<8x1xf32>
  xegpu.store_nd %v, %tr[-3, 30] : vector<8x1xf32>, !xegpu.tensor_desc<8x8xf32, #one>
  gpu.return
}
// -----
// xegpu.load_nd: 8 work-items, one dimension
// lanes 8
// work-items
gpu.func @k(%A: memref<200xf16>, %R: memref<200xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<200xf16> -> !xegpu.tensor_desc<32xf16, #pair>
  %tr = xegpu.create_nd_tdesc %R : memref<200xf16> -> !xegpu.tensor_desc<32xf16, #one>
  %v = xegpu.load_nd %ta[16] : !xegpu.tensor_desc<32xf16, #pair> -> vector<2x2xf16>
  %w = vector.shape_cast %v : vector<2x2xf16> to vector<4x1xf16>
  xegpu.store_nd %w, %tr[96] : vector<4x1xf16>, !xegpu.tensor_desc<32xf16, #one>
  gpu.return
}
// -----
// xegpu.dpas: 8 work-items, $KIND
// KIND = f16 bf16
// tolerance 1e-5
// lanes 8
// work-items
gpu.func @k(%A: memref<16x48x$KIND>, %B: memref<32x40x$KIND>, %C: memref<24x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$KIND> -> !xegpu.tensor_desc<8x16x$KIND, #pair>
  %tb = xegpu.create_nd_tdesc %B : memref<32x40x$KIND> -> !xegpu.tensor_desc<16x8x$KIND, #words>
  %tc = xegpu.create_nd_tdesc %C : memref<24x48xf32> -> !xegpu.tensor_desc<8x8xf32, #one>
  %a = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16x$KIND, #pair> -> vector<8x2x$KIND>
  %b = xegpu.load_nd %tb[16, 24] : !xegpu.tensor_desc<16x8x$KIND, #words> -> vector<8x2x$KIND>
  %c = xegpu.load_nd %tc[16, 8] : !xegpu.tensor_desc<8x8xf32, #one> -> vector<8x1xf32>
  %d = xegpu.dpas %a, %b, %c {layout_a = #pair, layout_b = #words, layout_cd = #one} : vector<8x2x$KIND>, vector<8x2x$KIND>, vector<8x1xf32> -> vector<8x1xf32>
  xegpu.store_nd %d, %tc[8, 32] : vector<8x1xf32>, !xegpu.tensor_desc<8x8xf32, #one>
  gpu.return
}
// -----
// xegpu.dpas: 8 work-items, i8
// lanes 8
// work-items
gpu.func @k(%A: memref<16x96xi8>, %B: memref<64x40xi8>, %C: memref<24x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xi8> -> !xegpu.tensor_desc<8x32xi8, #quad>
  %tb = xegpu.create_nd_tdesc %B : memref<64x40xi8> -> !xegpu.tensor_desc<32x8xi8, #bytes>
  %tc = xegpu.create_nd_tdesc %C : memref<24x48xi32> -> !xegpu.tensor_desc<8x8xi32, #one>
  %a = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x32xi8, #quad> -> vector<8x4xi8>
  %b = xegpu.load_nd %tb[32, 24] : !xegpu.tensor_desc<32x8xi8, #bytes> -> vector<8x4xi8>
  %d = xegpu.dpas %a, %b {layout_a = #quad, layout_b = #bytes, layout_cd = #one} : vector<8x4xi8>, vector<8x4xi8> -> vector<8x1xi32>
  xegpu.store_nd %d, %tc[16, 8] : vector<8x1xi32>, !xegpu.tensor_desc<8x8xi32, #one>
  gpu.return
}
// -----
// xegpu.dpas: 8 work-items, $M rows
// M = 1 2 4
// tolerance 1e-5
// lanes 8
// work-items
gpu.func @k(%A: memref<16x48xf16>, %B: memref<32x40xf16>, %C: memref<24x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<${M}x16xf16, #pair>
  %tb = xegpu.create_nd_tdesc %B : memref<32x40xf16> -> !xegpu.tensor_desc<16x8xf16, #words>
  %tc = xegpu.create_nd_tdesc %C : memref<24x48xf32> -> !xegpu.tensor_desc<${M}x8xf32, #one>
  %a = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<${M}x16xf16, #pair> -> vector<${M}x2xf16>
  %b = xegpu.load_nd %tb[16, 24] : !xegpu.tensor_desc<16x8xf16, #words> -> vector<8x2xf16>
  %d = xegpu.dpas %a, %b {layout_a = #pair, layout_b = #words, layout_cd = #one} : vector<${M}x2xf16>, vector<8x2xf16> -> vector<${M}x1xf32>
  xegpu.store_nd %d, %tc[3, 16] : vector<${M}x1xf32>, !xegpu.tensor_desc<${M}x8xf32, #one>
  gpu.return
}
// -----
// xegpu.load: 8 work-items, chunks of a descriptor
// lanes 8
// work-items
gpu.func @k(%A: memref<200xf16>, %R: memref<32xf16>) kernel {
  %i = vector.step : vector<8xindex>
  %n = arith.constant dense<11> : vector<8xindex>
  %at = arith.muli %i, %n : vector<8xindex>
  %four = arith.constant dense<4> : vector<8xindex>
  %to = arith.muli %i, %four : vector<8xindex>
  %ta = xegpu.create_tdesc %A, %at : memref<200xf16>, vector<8xindex> -> !xegpu.tensor_desc<8x4xf16, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #chunks>
  %tr = xegpu.create_tdesc %R, %to : memref<32xf16>, vector<8xindex> -> !xegpu.tensor_desc<8x4xf16, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #chunks>
  %yes = arith.constant dense<true> : vector<1xi1>
  %v = xegpu.load %ta, %yes : !xegpu.tensor_desc<8x4xf16, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #chunks>, vector<1xi1> -> vector<2x2xf16>
  xegpu.store %v, %tr, %yes : vector<2x2xf16>, !xegpu.tensor_desc<8x4xf16, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #chunks>, vector<1xi1>
  gpu.return
}
// -----
// gpu.shuffle: 8 work-items, $MODE
// MODE = xor up down idx
// subgroups 3
// lanes 8
// work-items
gpu.func @k(%A: memref<24xf32>, %R: memref<24xf32>) kernel {
  %i = gpu.thread_id x
  %three = arith.constant 3 : i32
  %width = arith.constant 8 : i32
  %yes = arith.constant true
  %v = xegpu.load %A[%i], %yes : memref<24xf32>, index, i1 -> f32
  %s, %valid = gpu.shuffle $MODE %v, %three, %width : f32
  %w = arith.select %valid, %s, %v : f32
  xegpu.store %w, %R[%i], %yes : f32, memref<24xf32>, index, i1
  gpu.return
}
