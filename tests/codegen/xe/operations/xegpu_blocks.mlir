// XeGPU's blocks of matrices. Six sub-groups; what each owns is a layout of the matrix's name.
#a = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 32]>
#b = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16]>
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>
#t = #xegpu.layout<sg_layout = [3, 2], sg_data = [16, 8]>
#line = #xegpu.layout<sg_layout = [6], sg_data = [32]>
!desc = !xegpu.tensor_desc<16x48xf32>

// -----
// xegpu.create_nd_tdesc: static memref
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: offsets on the descriptor
// with n = 12
gpu.func @k(%A: memref<19x64xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A[3, %n] : memref<19x64xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: offsets on the descriptor and on the access
// with n = 12
gpu.func @k(%A: memref<19x64xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A[3, %n] : memref<19x64xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[1, 4] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: dynamic memref
// with A = 13x40xf32, m = 13, n = 40
gpu.func @k(%A: memref<?x?xf32>, %R: memref<16x48xf32>, %m: index, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A, shape : [%m, %n], strides : [%n, 1] : memref<?x?xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[1, 4] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: address
// with A = 13x40xf32
gpu.func @k(%A: i64, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A, shape : [13, 40], strides : [40, 1] : i64 -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[1, 4] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: the RFC's list
// with A = 13x40xf32, m = 13, n = 40
gpu.func @k(%A: ui64, %R: memref<16x48xf32>, %m: index, %n: index) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ta = xegpu.create_nd_tdesc %A, %c0, %c0, %m, %n, %n, %c1 : uint64, index, index, index, index, index, index into tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: rank 3
// with z = 2
gpu.func @k(%A: memref<3x13x48xf32>, %R: memref<16x48xf32>, %z: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<3x13x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[%z, 1, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: boundary_check = false
gpu.func @k(%A: memref<20x64xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<20x64xf32> -> !xegpu.tensor_desc<16x48xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[4, 16] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: 1-D
gpu.func @k(%A: memref<200xf32>, %R: memref<192xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<200xf32> -> !xegpu.tensor_desc<192xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<192xf32> -> !xegpu.tensor_desc<192xf32>
  %a = xegpu.load_nd %ta[8] <{layout = #line}> : !xegpu.tensor_desc<192xf32> -> vector<192xf32>
  xegpu.store_nd %a, %tr[0] <{layout = #line}> : vector<192xf32>, !xegpu.tensor_desc<192xf32>
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: 1-D, address
// with A = 200xf32
gpu.func @k(%A: i64, %R: memref<192xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : i64 -> !xegpu.tensor_desc<192xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<192xf32> -> !xegpu.tensor_desc<192xf32>
  %a = xegpu.load_nd %ta[8] <{layout = #line}> : !xegpu.tensor_desc<192xf32> -> vector<192xf32>
  xegpu.store_nd %a, %tr[0] <{layout = #line}> : vector<192xf32>, !xegpu.tensor_desc<192xf32>
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: 1-D, shared local memory
gpu.func @k(%A: memref<192xf32>, %R: memref<192xf32>) kernel {
  %s = memref.alloca() : memref<192xf32, 3>
  %ts = xegpu.create_nd_tdesc %s : memref<192xf32, 3> -> !xegpu.tensor_desc<192xf32, #xegpu.block_tdesc_attr<memory_space = slm>>
  %ta = xegpu.create_nd_tdesc %A : memref<192xf32> -> !xegpu.tensor_desc<192xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<192xf32> -> !xegpu.tensor_desc<192xf32>
  %x = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<192xf32> -> vector<192xf32>
  xegpu.store_nd %x, %ts[0] <{layout = #line}> : vector<192xf32>, !xegpu.tensor_desc<192xf32, #xegpu.block_tdesc_attr<memory_space = slm>>
  gpu.barrier
  %a = xegpu.load_nd %ts[0] <{layout = #line}> : !xegpu.tensor_desc<192xf32, #xegpu.block_tdesc_attr<memory_space = slm>> -> vector<192xf32>
  xegpu.store_nd %a, %tr[0] <{layout = #line}> : vector<192xf32>, !xegpu.tensor_desc<192xf32>
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: sg_map of the RFC
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A[0, 0] : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<sg_layout = [2, 3], sg_data = [8, 16], wi_layout = [1, 16], wi_data = [1, 1]>>
  %tr = xegpu.create_nd_tdesc %R[0, 0] : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<sg_layout = [2, 3], sg_data = [8, 16], wi_layout = [1, 16], wi_data = [1, 1]>>
  %a = xegpu.load_nd %ta : !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<sg_layout = [2, 3], sg_data = [8, 16], wi_layout = [1, 16], wi_data = [1, 1]>> -> vector<16x48xf32>
  xegpu.store_nd %a, %tr : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<sg_layout = [2, 3], sg_data = [8, 16], wi_layout = [1, 16], wi_data = [1, 1]>>
  gpu.return
}
// at sub-group level
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A[0, 0] : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>
  %tr = xegpu.create_nd_tdesc %R[0, 0] : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>
  %a = xegpu.load_nd %ta : !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>> -> vector<16x48xf32>
  xegpu.store_nd %a, %tr : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>
  gpu.return
}
// -----
// xegpu.create_nd_tdesc: layouts of sub-groups, instructions and lanes
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16], inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1]>}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16], inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1]>}> : vector<16x48xf32>, !desc
  gpu.return
}
// at sub-group level
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #xegpu.layout<inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1]>}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #xegpu.layout<inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1]>}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.load_nd: $KIND
// KIND = f32 f16 bf16 i8 i16 i32 i64 f64
gpu.func @k(%A: memref<13x64x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<13x64x$KIND> -> !xegpu.tensor_desc<16x48x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$KIND> -> !xegpu.tensor_desc<16x48x$KIND>
  %a = xegpu.load_nd %ta[-2, 32] <{layout = #c}> : !xegpu.tensor_desc<16x48x$KIND> -> vector<16x48x$KIND>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48x$KIND>, !xegpu.tensor_desc<16x48x$KIND>
  gpu.return
}
// -----
// xegpu.load_nd: hints
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c, l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<cached>}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.load_nd: padding
gpu.func @k(%A: memref<13x40xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<13x40xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[-2, 4] <{layout = #c}> {padding = 2.5 : f32} : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.load_nd: transpose, $KIND
// KIND = f32 f16
gpu.func @k(%A: memref<48x16x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x16x$KIND> -> !xegpu.tensor_desc<48x16x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$KIND> -> !xegpu.tensor_desc<16x48x$KIND>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c, transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<48x16x$KIND> -> vector<16x48x$KIND>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48x$KIND>, !xegpu.tensor_desc<16x48x$KIND>
  gpu.return
}
// -----
// xegpu.load_nd: transpose_bit_width
// only sub-group: what one message does to a block is said where blocks are those of messages
gpu.func @k(%A: memref<32x32xf16>, %R: memref<16x64xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<32x32xf16> -> !xegpu.tensor_desc<32x32xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x64xf16> -> !xegpu.tensor_desc<16x64xf16>
  %a = xegpu.load_nd %ta[0, 0] <{transpose = array<i64: 1, 0>, transpose_bit_width = 32 : i32}> : !xegpu.tensor_desc<32x32xf16> -> vector<16x64xf16>
  xegpu.store_nd %a, %tr[0, 0] : vector<16x64xf16>, !xegpu.tensor_desc<16x64xf16>
  gpu.return
}
// -----
// xegpu.load_nd: packed, $KIND
// KIND = f16 bf16
// only sub-group: what one message does to a block is said where blocks are those of messages
gpu.func @k(%A: memref<32x48x$KIND>, %R: memref<32x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<32x48x$KIND> -> !xegpu.tensor_desc<32x48x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<32x48x$KIND> -> !xegpu.tensor_desc<32x48x$KIND>
  %a = xegpu.load_nd %ta[0, 0] <{packed}> : !xegpu.tensor_desc<32x48x$KIND> -> vector<16x48x2x$KIND>
  %r = vector.shape_cast %a : vector<16x48x2x$KIND> to vector<32x48x$KIND>
  xegpu.store_nd %r, %tr[0, 0] : vector<32x48x$KIND>, !xegpu.tensor_desc<32x48x$KIND>
  gpu.return
}
// -----
// xegpu.load_nd: packed, i8
// only sub-group: what one message does to a block is said where blocks are those of messages
gpu.func @k(%A: memref<32x48xi8>, %R: memref<32x48xi8>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<32x48xi8> -> !xegpu.tensor_desc<32x48xi8>
  %tr = xegpu.create_nd_tdesc %R : memref<32x48xi8> -> !xegpu.tensor_desc<32x48xi8>
  %a = xegpu.load_nd %ta[0, 0] <{packed}> : !xegpu.tensor_desc<32x48xi8> -> vector<8x48x4xi8>
  %r = vector.shape_cast %a : vector<8x48x4xi8> to vector<32x48xi8>
  xegpu.store_nd %r, %tr[0, 0] : vector<32x48xi8>, !xegpu.tensor_desc<32x48xi8>
  gpu.return
}
// -----
// xegpu.load_nd: array_length, vector<2x16x16xf16>
// only sub-group: what one message does to a block is said where blocks are those of messages
gpu.func @k(%A: memref<16x64xf16>, %R: memref<32x32xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x64xf16> -> !xegpu.tensor_desc<16x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
  %tr = xegpu.create_nd_tdesc %R : memref<32x32xf16> -> !xegpu.tensor_desc<32x16xf16>
  %a = xegpu.load_nd %ta[0, 16] : !xegpu.tensor_desc<16x16xf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<2x16x16xf16>
  %r = vector.shape_cast %a : vector<2x16x16xf16> to vector<32x16xf16>
  xegpu.store_nd %r, %tr[0, 16] : vector<32x16xf16>, !xegpu.tensor_desc<32x16xf16>
  gpu.return
}
// -----
// xegpu.load_nd: array_length, vector<32x16xf16>
// only sub-group: what one message does to a block is said where blocks are those of messages
gpu.func @k(%A: memref<16x64xf16>, %R: memref<32x32xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x64xf16> -> !xegpu.tensor_desc<16x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
  %tr = xegpu.create_nd_tdesc %R : memref<32x32xf16> -> !xegpu.tensor_desc<32x16xf16>
  %a = xegpu.load_nd %ta[0, 16] : !xegpu.tensor_desc<16x16xf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<32x16xf16>
  xegpu.store_nd %a, %tr[0, 16] : vector<32x16xf16>, !xegpu.tensor_desc<32x16xf16>
  gpu.return
}
// -----
// xegpu.store_nd: $KIND
// KIND = f32 f16 bf16 i8 i16 i32 i64 f64
gpu.func @k(%A: memref<16x48x$KIND>, %R: memref<13x64x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$KIND> -> !xegpu.tensor_desc<16x48x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<13x64x$KIND> -> !xegpu.tensor_desc<16x48x$KIND>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$KIND> -> vector<16x48x$KIND>
  xegpu.store_nd %a, %tr[-2, 32] <{layout = #c}> : vector<16x48x$KIND>, !xegpu.tensor_desc<16x48x$KIND>
  gpu.return
}
// -----
// xegpu.store_nd: hints
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c, l1_hint = #xegpu.cache_hint<write_through>, l2_hint = #xegpu.cache_hint<write_back>}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.prefetch_nd
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  xegpu.prefetch_nd %ta[0, 0] <{layout = #c}> : !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.prefetch_nd: hints
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  xegpu.prefetch_nd %ta[0, 0] <{layout = #c, l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<cached>}> : !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.update_nd_offset
// with n = 12
gpu.func @k(%A: memref<19x64xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %t0 = xegpu.create_nd_tdesc %A[0, 0] : memref<19x64xf32> -> !desc
  %ta = xegpu.update_nd_offset %t0, [3, %n] : !desc
  %tr = xegpu.create_nd_tdesc %R[0, 0] : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_nd %a, %tr <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.update_nd_offset: in a loop
gpu.func @k(%A: memref<19x96xf32>, %R: memref<16x48xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant dense<0.0> : vector<16x48xf32>
  %t0 = xegpu.create_nd_tdesc %A[0, 0] : memref<19x96xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R[0, 0] : memref<16x48xf32> -> !desc
  %r, %end = scf.for %k = %c0 to %c48 step %c16 iter_args(%sum = %zero, %t = %t0) -> (vector<16x48xf32>, !desc) {
    %a = xegpu.load_nd %t <{layout = #c}> : !desc -> vector<16x48xf32>
    %more = arith.addf %sum, %a : vector<16x48xf32>
    %next = xegpu.update_nd_offset %t, [1, %c16] : !desc
    scf.yield %more, %next : vector<16x48xf32>, !desc
  }
  xegpu.store_nd %r, %tr <{layout = #c}> : vector<16x48xf32>, !desc
  gpu.return
}
