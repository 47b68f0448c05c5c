// XeGPU's products and conversions. Six sub-groups; M, N and K are 16, 48 and 32.
#a = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 32]>
#b = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16]>
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>
#rows = #xegpu.layout<sg_layout = [6, 1], sg_data = [8, 48]>

// -----
// xegpu.dpas: $KIND
// KIND = f16 bf16
// tolerance 1e-4
gpu.func @k(%A: memref<16x32x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32x$KIND> -> !xegpu.tensor_desc<16x32x$KIND>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48x$KIND> -> !xegpu.tensor_desc<32x48x$KIND>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32x$KIND> -> vector<16x32x$KIND>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #b}> : !xegpu.tensor_desc<32x48x$KIND> -> vector<32x48x$KIND>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %d = xegpu.dpas %a, %b, %c <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32x$KIND>, vector<32x48x$KIND>, vector<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.dpas: $KIND to $KIND
// KIND = f16 bf16
// tolerance 0.02
gpu.func @k(%A: memref<16x32x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32x$KIND> -> !xegpu.tensor_desc<16x32x$KIND>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48x$KIND> -> !xegpu.tensor_desc<32x48x$KIND>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48x$KIND> -> !xegpu.tensor_desc<16x48x$KIND>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32x$KIND> -> vector<16x32x$KIND>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #b}> : !xegpu.tensor_desc<32x48x$KIND> -> vector<32x48x$KIND>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$KIND> -> vector<16x48x$KIND>
  %d = xegpu.dpas %a, %b, %c <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32x$KIND>, vector<32x48x$KIND>, vector<16x48x$KIND> -> vector<16x48x$KIND>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48x$KIND>, !xegpu.tensor_desc<16x48x$KIND>
  gpu.return
}
// -----
// xegpu.dpas: tf32
// tolerance 1e-4
gpu.func @k(%A: memref<16x32xtf32>, %B: memref<32x48xtf32>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32xtf32> -> !xegpu.tensor_desc<16x32xtf32>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xtf32> -> !xegpu.tensor_desc<32x48xtf32>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32xtf32> -> vector<16x32xtf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #b}> : !xegpu.tensor_desc<32x48xtf32> -> vector<32x48xtf32>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %d = xegpu.dpas %a, %b, %c <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32xtf32>, vector<32x48xtf32>, vector<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.dpas: $KIND
// KIND = i8 si8 ui8
gpu.func @k(%A: memref<16x32x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32x$KIND> -> !xegpu.tensor_desc<16x32x$KIND>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48x$KIND> -> !xegpu.tensor_desc<32x48x$KIND>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32x$KIND> -> vector<16x32x$KIND>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #b}> : !xegpu.tensor_desc<32x48x$KIND> -> vector<32x48x$KIND>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %d = xegpu.dpas %a, %b, %c <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32x$KIND>, vector<32x48x$KIND>, vector<16x48xi32> -> vector<16x48xi32>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// xegpu.dpas: $A by $B
// A = ui8
// B = si8
gpu.func @k(%A: memref<16x32x$A>, %B: memref<32x48x$B>, %C: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32x$A> -> !xegpu.tensor_desc<16x32x$A>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48x$B> -> !xegpu.tensor_desc<32x48x$B>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32x$A> -> vector<16x32x$A>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #b}> : !xegpu.tensor_desc<32x48x$B> -> vector<32x48x$B>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %d = xegpu.dpas %a, %b, %c <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32x$A>, vector<32x48x$B>, vector<16x48xi32> -> vector<16x48xi32>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// xegpu.dpas: without c
// tolerance 1e-4
gpu.func @k(%A: memref<16x32xf16>, %B: memref<32x48xf16>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32xf16> -> !xegpu.tensor_desc<16x32xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xf16> -> !xegpu.tensor_desc<32x48xf16>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32xf16> -> vector<16x32xf16>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #b}> : !xegpu.tensor_desc<32x48xf16> -> vector<32x48xf16>
  %d = xegpu.dpas %a, %b <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32xf16>, vector<32x48xf16> -> vector<16x48xf32>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.dpas: b in words, $KIND
// KIND = f16 bf16
// tolerance 1e-4
// only sub-group: a work-group's operands are matrices, words are what registers hold
gpu.func @k(%A: memref<16x32x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32x$KIND> -> !xegpu.tensor_desc<16x32x$KIND>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48x$KIND> -> !xegpu.tensor_desc<32x48x$KIND>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32x$KIND> -> vector<16x32x$KIND>
  %b = xegpu.load_nd %tb[0, 0] <{packed}> : !xegpu.tensor_desc<32x48x$KIND> -> vector<16x48x2x$KIND>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %d = xegpu.dpas %a, %b, %c <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32x$KIND>, vector<16x48x2x$KIND>, vector<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.dpas: b in words, i8
// only sub-group: a work-group's operands are matrices, words are what registers hold
gpu.func @k(%A: memref<16x32xi8>, %B: memref<32x48xi8>, %C: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32xi8> -> !xegpu.tensor_desc<16x32xi8>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xi8> -> !xegpu.tensor_desc<32x48xi8>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32xi8> -> vector<16x32xi8>
  %b = xegpu.load_nd %tb[0, 0] <{packed}> : !xegpu.tensor_desc<32x48xi8> -> vector<8x48x4xi8>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %d = xegpu.dpas %a, %b, %c <{layout_a = #a, layout_b = #b, layout_cd = #c}>
    : vector<16x32xi8>, vector<8x48x4xi8>, vector<16x48xi32> -> vector<16x48xi32>
  xegpu.store_nd %d, %tc[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// xegpu.dpas: a in words
// tolerance 1e-4
// only sub-group: a work-group's operands are matrices, words are what registers hold
gpu.func @k(%A: memref<16x32xf16>, %B: memref<32x48xf16>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32xf16> -> !xegpu.tensor_desc<16x32xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xf16> -> !xegpu.tensor_desc<32x48xf16>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %0 = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<16x32xf16> -> vector<16x32xf16>
  %a = vector.shape_cast %0 : vector<16x32xf16> to vector<16x16x2xf16>
  %b = xegpu.load_nd %tb[0, 0] <{packed}> : !xegpu.tensor_desc<32x48xf16> -> vector<16x48x2xf16>
  %d = xegpu.dpas %a, %b : vector<16x16x2xf16>, vector<16x48x2xf16> -> vector<16x48xf32>
  xegpu.store_nd %d, %tc[0, 0] : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.dpas: one instruction
// tolerance 1e-4
// only sub-group: one instruction is a sub-group's
gpu.func @k(%A: memref<8x32xf16>, %B: memref<16x32xf16>, %C: memref<8x16xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<8x32xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<16x32xf16> -> !xegpu.tensor_desc<16x16xf16>
  %tc = xegpu.create_nd_tdesc %C : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %a = xegpu.load_nd %ta[0, 16] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
  %b = xegpu.load_nd %tb[0, 16] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
  %c = xegpu.load_nd %tc[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
  %d = xegpu.dpas %a, %b, %c : vector<8x16xf16>, vector<8x16x2xf16>, vector<8x16xf32> -> vector<8x16xf32>
  xegpu.store_nd %d, %tc[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.convert_layout: $KIND
// KIND = f32 f16 i8
gpu.func @k(%A: memref<48x48x$KIND>, %R: memref<48x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x48x$KIND> -> !xegpu.tensor_desc<48x48x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<48x48x$KIND> -> !xegpu.tensor_desc<48x48x$KIND>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<48x48x$KIND> -> vector<48x48x$KIND>
  %r = xegpu.convert_layout %a <{input_layout = #c, target_layout = #rows}> : vector<48x48x$KIND>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #rows}> : vector<48x48x$KIND>, !xegpu.tensor_desc<48x48x$KIND>
  gpu.return
}
// at sub-group level
gpu.func @k(%A: memref<48x48x$KIND>, %R: memref<48x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x48x$KIND> -> !xegpu.tensor_desc<48x48x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<48x48x$KIND> -> !xegpu.tensor_desc<48x48x$KIND>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<48x48x$KIND> -> vector<48x48x$KIND>
  %r = xegpu.convert_layout %a <{input_layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>, target_layout = #xegpu.layout<lane_layout = [16, 1], lane_data = [1, 1]>}> : vector<48x48x$KIND>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #rows}> : vector<48x48x$KIND>, !xegpu.tensor_desc<48x48x$KIND>
  gpu.return
}
