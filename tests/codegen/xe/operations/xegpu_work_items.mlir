// XeGPU's operations at the level of work-items: what each holds of a block of its sub-group of 16, and its own elements.
#rows = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>
#pairs = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 2]>
#words = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>
#bytes = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [4, 1]>
#turned = #xegpu.sg_map<wi_layout = [16, 1], wi_data = [1, 1]>
#turnedpairs = #xegpu.sg_map<wi_layout = [16, 1], wi_data = [1, 2]>
#halves = #xegpu.layout<lane_layout = [2, 8], lane_data = [1, 1]>
#across = #xegpu.layout<lane_layout = [2, 8], lane_data = [1, 1], order = [0, 1]>
#squares = #xegpu.layout<lane_layout = [2, 8], lane_data = [2, 2]>

// -----
// xegpu.load_nd: work-items, $KIND
// KIND = f32 f16 bf16 i16 i32 f64 i64
// work-items
gpu.func @k(%A: memref<16x48x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$KIND> -> !xegpu.tensor_desc<8x16x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$KIND> -> !xegpu.tensor_desc<8x16x$KIND>
  %v = xegpu.load_nd %ta[8, 16] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<uncached>}> : !xegpu.tensor_desc<8x16x$KIND> -> vector<8x$KIND>
  xegpu.store_nd %v, %tr[0, 32] : vector<8x$KIND>, !xegpu.tensor_desc<8x16x$KIND>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, i8
// work-items
gpu.func @k(%A: memref<16x96xi8>, %R: memref<16x96xi8>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xi8> -> !xegpu.tensor_desc<8x32xi8>
  %tr = xegpu.create_nd_tdesc %R : memref<16x96xi8> -> !xegpu.tensor_desc<8x32xi8>
  %v = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x32xi8> -> vector<16xi8>
  %first = vector.extract_strided_slice %v {offsets = [0], sizes = [8], strides = [1]} : vector<16xi8> to vector<8xi8>
  %second = vector.extract_strided_slice %v {offsets = [8], sizes = [8], strides = [1]} : vector<16xi8> to vector<8xi8>
  %w = vector.insert_strided_slice %first, %v {offsets = [8], strides = [1]} : vector<8xi8> into vector<16xi8>
  %x = vector.insert_strided_slice %second, %w {offsets = [0], strides = [1]} : vector<8xi8> into vector<16xi8>
  xegpu.store_nd %x, %tr[0, 64] : vector<16xi8>, !xegpu.tensor_desc<8x32xi8>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, outside of the matrix
// work-items
gpu.func @k(%A: memref<13x40xf32>, %R: memref<13x40xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<13x40xf32> -> !xegpu.tensor_desc<8x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<13x40xf32> -> !xegpu.tensor_desc<8x16xf32>
  %v = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
  xegpu.store_nd %v, %tr[-3, 30] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, padding
// work-items
gpu.func @k(%A: memref<13x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A[8, 32] : memref<13x48xf32> -> !xegpu.tensor_desc<8x16xf32>
  %tr = xegpu.create_nd_tdesc %R[0, 0] : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32>
  %v = xegpu.load_nd %ta {padding = 3.0 : f32} : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
  xegpu.store_nd %v, %tr : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, packed $KIND
// KIND = f16 bf16
// work-items
gpu.func @k(%A: memref<32x48x$KIND>, %R: memref<16x48x$KIND>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<32x48x$KIND> -> !xegpu.tensor_desc<16x16x$KIND>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$KIND> -> !xegpu.tensor_desc<16x16x$KIND>
  %v = xegpu.load_nd %ta[16, 16] <{packed}> : !xegpu.tensor_desc<16x16x$KIND> -> vector<16x$KIND>
  xegpu.store_nd %v, %tr[0, 32] : vector<16x$KIND>, !xegpu.tensor_desc<16x16x$KIND>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, packed i8
// work-items
gpu.func @k(%A: memref<64x80xi8>, %R: memref<32x80xi8>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<64x80xi8> -> !xegpu.tensor_desc<32x16xi8>
  %tr = xegpu.create_nd_tdesc %R : memref<32x80xi8> -> !xegpu.tensor_desc<32x16xi8>
  %v = xegpu.load_nd %ta[32, 16] <{packed}> : !xegpu.tensor_desc<32x16xi8> -> vector<32xi8>
  xegpu.store_nd %v, %tr[0, 32] : vector<32xi8>, !xegpu.tensor_desc<32x16xi8>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, array_length
// work-items
gpu.func @k(%A: memref<24x32xf16>, %R: memref<32x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<24x32xf16> -> !xegpu.tensor_desc<16x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
  %tr = xegpu.create_nd_tdesc %R : memref<32x48xf16> -> !xegpu.tensor_desc<32x16xf16>
  %v = xegpu.load_nd %ta[8, 0] : !xegpu.tensor_desc<16x16xf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<32xf16>
  xegpu.store_nd %v, %tr[0, 16] : vector<32xf16>, !xegpu.tensor_desc<32x16xf16>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, transpose f32
// work-items
gpu.func @k(%A: memref<48x32xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x32xf32> -> !xegpu.tensor_desc<16x8xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32>
  %v = xegpu.load_nd %ta[32, 8] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x8xf32> -> vector<8xf32>
  xegpu.store_nd %v, %tr[8, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, transpose f16
// work-items
gpu.func @k(%A: memref<48x64xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x64xf16> -> !xegpu.tensor_desc<16x16xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x16xf16>
  %v = xegpu.load_nd %ta[32, 16] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
  xegpu.store_nd %v, %tr[0, 16] : vector<16xf16>, !xegpu.tensor_desc<16x16xf16>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map transposed in pairs
// work-items
gpu.func @k(%A: memref<48x64xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x64xf16> -> !xegpu.tensor_desc<16x16xf16, #turnedpairs>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x16xf16, #words>
  %v = xegpu.load_nd %ta[32, 16] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x16xf16, #turnedpairs> -> vector<8x2xf16>
  xegpu.store_nd %v, %tr[0, 16] : vector<8x2xf16>, !xegpu.tensor_desc<16x16xf16, #words>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map transposed
// work-items
gpu.func @k(%A: memref<48x32xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x32xf32> -> !xegpu.tensor_desc<16x8xf32, #turned>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32, #rows>
  %v = xegpu.load_nd %ta[32, 8] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x8xf32, #turned> -> vector<8x1xf32>
  xegpu.store_nd %v, %tr[8, 16] : vector<8x1xf32>, !xegpu.tensor_desc<8x16xf32, #rows>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map of several units
// work-items
gpu.func @k(%A: memref<24x64xbf16>, %R: memref<24x64xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<24x64xbf16> -> !xegpu.tensor_desc<12x32xbf16, #rows>
  %tr = xegpu.create_nd_tdesc %R : memref<24x64xbf16> -> !xegpu.tensor_desc<12x32xbf16, #pairs>
  %v = xegpu.load_nd %ta[12, 32] : !xegpu.tensor_desc<12x32xbf16, #rows> -> vector<24x1xbf16>
  %w = vector.shape_cast %v : vector<24x1xbf16> to vector<12x2xbf16>
  xegpu.store_nd %w, %tr[0, 0] : vector<12x2xbf16>, !xegpu.tensor_desc<12x32xbf16, #pairs>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map of words
// work-items
gpu.func @k(%A: memref<32x48xbf16>, %R: memref<16x48xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<32x48xbf16> -> !xegpu.tensor_desc<16x16xbf16, #words>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xbf16> -> !xegpu.tensor_desc<16x16xbf16, #words>
  %v = xegpu.load_nd %ta[16, 16] : !xegpu.tensor_desc<16x16xbf16, #words> -> vector<8x2xbf16>
  xegpu.store_nd %v, %tr[0, 32] : vector<8x2xbf16>, !xegpu.tensor_desc<16x16xbf16, #words>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map of words of bytes
// work-items
gpu.func @k(%A: memref<64x80xi8>, %R: memref<32x80xi8>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<64x80xi8> -> !xegpu.tensor_desc<32x16xi8, #bytes>
  %tr = xegpu.create_nd_tdesc %R : memref<32x80xi8> -> !xegpu.tensor_desc<32x16xi8, #rows>
  %v = xegpu.load_nd %ta[32, 16] : !xegpu.tensor_desc<32x16xi8, #bytes> -> vector<8x4xi8>
  %w = vector.shape_cast %v : vector<8x4xi8> to vector<32x1xi8>
  xegpu.store_nd %w, %tr[0, 32] : vector<32x1xi8>, !xegpu.tensor_desc<32x16xi8, #rows>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, layout $MAP
// MAP = halves across squares
// work-items
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32, #$MAP>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32>
  %v = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16xf32, #$MAP> -> vector<8xf32>
  xegpu.store_nd %v, %tr[0, 32] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, one dimension
// work-items
gpu.func @k(%A: memref<200xf32>, %R: memref<200xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<200xf32> -> !xegpu.tensor_desc<64xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<200xf32> -> !xegpu.tensor_desc<64xf32, #xegpu.layout<lane_layout = [16], lane_data = [2]>>
  %v = xegpu.load_nd %ta[16] : !xegpu.tensor_desc<64xf32> -> vector<4xf32>
  xegpu.store_nd %v, %tr[96] : vector<4xf32>, !xegpu.tensor_desc<64xf32, #xegpu.layout<lane_layout = [16], lane_data = [2]>>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, one dimension of halves
// work-items
gpu.func @k(%A: memref<200xbf16>, %R: memref<200xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<200xbf16> -> !xegpu.tensor_desc<32xbf16, #pairs>
  %tr = xegpu.create_nd_tdesc %R : memref<200xbf16> -> !xegpu.tensor_desc<32xbf16, #rows>
  %v = xegpu.load_nd %ta[16] : !xegpu.tensor_desc<32xbf16, #pairs> -> vector<1x2xbf16>
  %w = vector.shape_cast %v : vector<1x2xbf16> to vector<2x1xbf16>
  xegpu.store_nd %w, %tr[96] : vector<2x1xbf16>, !xegpu.tensor_desc<32xbf16, #rows>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, shared local memory
// work-items
gpu.func @k(%A: memref<16x16xf32>, %R: memref<16x16xf32>) kernel {
  %s = memref.alloca() : memref<8x16xf32, 3>
  %ta = xegpu.create_nd_tdesc %A : memref<16x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %ts = xegpu.create_nd_tdesc %s : memref<8x16xf32, 3> -> !xegpu.tensor_desc<8x16xf32, #xegpu.block_tdesc_attr<memory_space = slm>>
  %tt = xegpu.create_nd_tdesc %s : memref<8x16xf32, 3> -> !xegpu.tensor_desc<8x16xf32, #xegpu.block_tdesc_attr<memory_space = slm>, #halves>
  %a = xegpu.load_nd %ta[8, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
  xegpu.store_nd %a, %ts[0, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32, #xegpu.block_tdesc_attr<memory_space = slm>>
  gpu.barrier
  %v = xegpu.load_nd %tt[0, 0] : !xegpu.tensor_desc<8x16xf32, #xegpu.block_tdesc_attr<memory_space = slm>, #halves> -> vector<8xf32>
  xegpu.store_nd %v, %tr[8, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.update_nd_offset: work-items
// work-items
gpu.func @k(%A: memref<16x96xf32>, %R: memref<16x96xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %ta = xegpu.create_nd_tdesc %A[8, 0] : memref<16x96xf32> -> !xegpu.tensor_desc<8x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x96xf32> -> !xegpu.tensor_desc<8x16xf32>
  %s:2 = scf.for %i = %c0 to %c96 step %c16 iter_args(%sum = %zero, %t = %ta) -> (vector<8xf32>, !xegpu.tensor_desc<8x16xf32>) {
    %v = xegpu.load_nd %t : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
    %w = arith.maximumf %sum, %v : vector<8xf32>
    %u = xegpu.update_nd_offset %t, [0, 16] : !xegpu.tensor_desc<8x16xf32>
    scf.yield %w, %u : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  }
  xegpu.store_nd %s#0, %tr[0, 48] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.store_nd: work-items, i8
// work-items
gpu.func @k(%A: memref<16x80xi8>, %R: memref<16x80xi8>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x80xi8> -> !xegpu.tensor_desc<8x16xi8>
  %tr = xegpu.create_nd_tdesc %R : memref<16x80xi8> -> !xegpu.tensor_desc<8x16xi8>
  %v = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x16xi8> -> vector<8xi8>
  %w = arith.addi %v, %v : vector<8xi8>
  xegpu.store_nd %w, %tr[0, 48] : vector<8xi8>, !xegpu.tensor_desc<8x16xi8>
  gpu.return
}
// -----
// xegpu.store_nd: work-items, hints
// work-items
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<8x16xf16>
  %v = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
  xegpu.store_nd %v, %tr[0, 0] <{l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<write_back>, l3_hint = #xegpu.cache_hint<write_through>}> : vector<8xf16>, !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
// -----
// xegpu.prefetch_nd: work-items
// work-items
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<8x16xf16>
  xegpu.prefetch_nd %ta[8, 16] <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<8x16xf16>
  %v = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
  xegpu.store_nd %v, %tr[0, 0] : vector<8xf16>, !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
// -----
// xegpu.dpas: work-items, $KIND
// KIND = f16 bf16
// tolerance 1e-5
// work-items
gpu.func @k(%A: memref<16x48x$KIND>, %B: memref<32x48x$KIND>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$KIND> -> !xegpu.tensor_desc<8x16x$KIND>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48x$KIND> -> !xegpu.tensor_desc<16x16x$KIND>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32>
  %a = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16x$KIND> -> vector<8x$KIND>
  %b = xegpu.load_nd %tb[16, 32] <{packed}> : !xegpu.tensor_desc<16x16x$KIND> -> vector<16x$KIND>
  %c = xegpu.load_nd %tc[0, 16] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
  %d = xegpu.dpas %a, %b, %c : vector<8x$KIND>, vector<16x$KIND>, vector<8xf32> -> vector<8xf32>
  xegpu.store_nd %d, %tc[0, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.dpas: work-items, b not packed
// tolerance 1e-5
// work-items
gpu.func @k(%A: memref<16x48xf16>, %B: memref<32x48xf16>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xf16> -> !xegpu.tensor_desc<16x16xf16>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32>
  %a = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
  %b = xegpu.load_nd %tb[16, 32] : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
  %d = xegpu.dpas %a, %b : vector<8xf16>, vector<16xf16> -> vector<8xf32>
  xegpu.store_nd %d, %tc[0, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.dpas: work-items, i8
// work-items
gpu.func @k(%A: memref<16x96xi8>, %B: memref<64x80xi8>, %C: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xi8> -> !xegpu.tensor_desc<8x32xi8>
  %tb = xegpu.create_nd_tdesc %B : memref<64x80xi8> -> !xegpu.tensor_desc<32x16xi8>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xi32> -> !xegpu.tensor_desc<8x16xi32>
  %a = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x32xi8> -> vector<16xi8>
  %b = xegpu.load_nd %tb[32, 16] <{packed}> : !xegpu.tensor_desc<32x16xi8> -> vector<32xi8>
  %c = xegpu.load_nd %tc[0, 16] : !xegpu.tensor_desc<8x16xi32> -> vector<8xi32>
  %d = xegpu.dpas %a, %b, %c : vector<16xi8>, vector<32xi8>, vector<8xi32> -> vector<8xi32>
  xegpu.store_nd %d, %tc[0, 16] : vector<8xi32>, !xegpu.tensor_desc<8x16xi32>
  gpu.return
}
// -----
// xegpu.dpas: work-items, tf32
// tolerance 1e-5
// work-items
gpu.func @k(%A: memref<16x48xtf32>, %B: memref<32x48xtf32>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xtf32> -> !xegpu.tensor_desc<8x8xtf32>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xtf32> -> !xegpu.tensor_desc<8x16xtf32>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32>
  %a = xegpu.load_nd %ta[8, 24] : !xegpu.tensor_desc<8x8xtf32> -> vector<4xtf32>
  %b = xegpu.load_nd %tb[16, 16] : !xegpu.tensor_desc<8x16xtf32> -> vector<8xtf32>
  %d = xegpu.dpas %a, %b : vector<4xtf32>, vector<8xtf32> -> vector<8xf32>
  xegpu.store_nd %d, %tc[0, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
// -----
// xegpu.dpas: work-items, $M rows
// M = 1 2 4
// tolerance 1e-5
// work-items
gpu.func @k(%A: memref<16x48xf16>, %B: memref<32x48xf16>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<${M}x16xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xf16> -> !xegpu.tensor_desc<16x16xf16>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<${M}x16xf32>
  %a = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<${M}x16xf16> -> vector<${M}xf16>
  %b = xegpu.load_nd %tb[16, 32] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
  %d = xegpu.dpas %a, %b : vector<${M}xf16>, vector<16xf16> -> vector<${M}xf32>
  xegpu.store_nd %d, %tc[3, 16] : vector<${M}xf32>, !xegpu.tensor_desc<${M}x16xf32>
  gpu.return
}
// -----
// xegpu.dpas: work-items, sg_map
// tolerance 1e-5
// work-items
gpu.func @k(%A: memref<16x48xbf16>, %B: memref<32x48xbf16>, %C: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xbf16> -> !xegpu.tensor_desc<8x16xbf16, #rows>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xbf16> -> !xegpu.tensor_desc<16x16xbf16, #words>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32, #rows>
  %a = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<8x16xbf16, #rows> -> vector<8x1xbf16>
  %b = xegpu.load_nd %tb[16, 32] : !xegpu.tensor_desc<16x16xbf16, #words> -> vector<8x2xbf16>
  %d = xegpu.dpas %a, %b {layout_a = #rows, layout_b = #rows, layout_cd = #rows} : vector<8x1xbf16>, vector<8x2xbf16> -> vector<8x1xf32>
  xegpu.store_nd %d, %tc[0, 16] : vector<8x1xf32>, !xegpu.tensor_desc<8x16xf32, #rows>
  gpu.return
}
// -----
// xegpu.load: work-items, $KIND
// KIND = f32 f16 bf16 i8 i16 i32 i64 f64
// work-items
gpu.func @k(%A: memref<128x$KIND>, %R: memref<128x$KIND>) kernel {
  %i = gpu.thread_id x
  %five = arith.constant 5 : index
  %eleven = arith.constant 11 : index
  %j = arith.muli %i, %five : index
  %at = vector.broadcast %j : index to vector<1xindex>
  %to = vector.broadcast %i : index to vector<1xindex>
  %inside = arith.cmpi ult, %i, %eleven : index
  %mask = vector.broadcast %inside : i1 to vector<1xi1>
  %all = arith.constant dense<true> : vector<1xi1>
  %v = xegpu.load %A[%at], %mask : memref<128x$KIND>, vector<1xindex>, vector<1xi1> -> vector<1x$KIND>
  xegpu.store %v, %R[%to], %all : vector<1x$KIND>, memref<128x$KIND>, vector<1xindex>, vector<1xi1>
  gpu.return
}
// -----
// xegpu.load: work-items, chunks of $CHUNK
// CHUNK = 2 3 4 8 16 32
// subgroups 2
// work-items
gpu.func @k(%A: memref<1100xf32>, %R: memref<1100xf32>) kernel {
  %i = gpu.thread_id x
  %n = arith.constant $CHUNK : index
  %x = arith.constant 31 : index
  %one = arith.constant 1 : index
  %j = arith.xori %i, %x : index
  %p = arith.muli %j, %n : index
  %from = arith.addi %p, %one : index
  %q = arith.muli %i, %n : index
  %at = vector.broadcast %from : index to vector<1xindex>
  %to = vector.broadcast %q : index to vector<1xindex>
  %mask = arith.constant dense<true> : vector<1xi1>
  %v = xegpu.load %A[%at], %mask <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<uncached>}> : memref<1100xf32>, vector<1xindex>, vector<1xi1> -> vector<${CHUNK}xf32>
  %w = arith.addf %v, %v : vector<${CHUNK}xf32>
  xegpu.store %w, %R[%to], %mask : vector<${CHUNK}xf32>, memref<1100xf32>, vector<1xindex>, vector<1xi1>
  gpu.return
}
// -----
// xegpu.load: work-items, scalars
// subgroups 2
// work-items
gpu.func @k(%A: memref<128xf16>, %R: memref<128xf16>) kernel {
  %i = gpu.thread_id x
  %three = arith.constant 3 : index
  %j = arith.muli %i, %three : index
  %few = arith.constant 21 : index
  %mask = arith.cmpi ult, %i, %few : index
  %v = xegpu.load %A[%j], %mask : memref<128xf16>, index, i1 -> f16
  %w = arith.mulf %v, %v : f16
  xegpu.store %w, %R[%i], %mask : f16, memref<128xf16>, index, i1
  gpu.return
}
// -----
// xegpu.load: work-items, masked chunks at an address
// with A = 128xf32
// work-items
gpu.func @k(%A: i64, %R: memref<128xf32>) kernel {
  %i = gpu.lane_id
  %four = arith.constant 4 : index
  %j = arith.muli %i, %four : index
  %few = arith.constant 11 : index
  %mask = arith.cmpi ult, %i, %few : index
  %v = xegpu.load %A[%j], %mask <{chunk_size = 4}> : i64, index, i1 -> vector<4xf32>
  %yes = arith.constant true
  xegpu.store %v, %R[%j], %yes <{chunk_size = 4}> : vector<4xf32>, memref<128xf32>, index, i1
  gpu.return
}
// -----
// xegpu.load: work-items, a descriptor with sg_map
// work-items
gpu.func @k(%A: memref<200xf32>, %R: memref<16xf32>) kernel {
  %i = vector.step : vector<16xindex>
  %seven = arith.constant dense<7> : vector<16xindex>
  %at = arith.muli %i, %seven : vector<16xindex>
  %ta = xegpu.create_tdesc %A, %at : memref<200xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>, #rows>
  %tr = xegpu.create_tdesc %R, %i : memref<16xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>, #rows>
  %two = arith.constant dense<2> : vector<16xindex>
  %tb = xegpu.update_offset %ta, %two : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>, #rows>, vector<16xindex>
  %mask = arith.constant dense<true> : vector<1xi1>
  %v = xegpu.load %tb, %mask : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>, #rows>, vector<1xi1> -> vector<1xf32>
  xegpu.store %v, %tr, %mask : vector<1xf32>, !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>, #rows>, vector<1xi1>
  gpu.return
}
// -----
// xegpu.load: work-items, chunks of a descriptor with sg_map
// work-items
gpu.func @k(%A: memref<200xf32>, %R: memref<64xf32>) kernel {
  %i = vector.step : vector<16xindex>
  %four = arith.constant dense<4> : vector<16xindex>
  %seven = arith.constant dense<7> : vector<16xindex>
  %at = arith.muli %i, %seven : vector<16xindex>
  %to = arith.muli %i, %four : vector<16xindex>
  %mask = arith.cmpi ult, %i, %seven : vector<16xindex>
  %all = arith.constant dense<true> : vector<16xi1>
  %ta = xegpu.create_tdesc %A, %at : memref<200xf32>, vector<16xindex> -> !xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #turned>
  %tr = xegpu.create_tdesc %R, %to : memref<64xf32>, vector<16xindex> -> !xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #turned>
  %v = xegpu.load %ta, %mask {transpose} : !xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #turned>, vector<16xi1> -> vector<4x1xf32>
  xegpu.store %v, %tr, %all {transpose} : vector<4x1xf32>, !xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #turned>, vector<16xi1>
  gpu.return
}
// -----
// xegpu.load: work-items, packed chunks of a descriptor with sg_map
// work-items
gpu.func @k(%A: memref<200xbf16>, %R: memref<128xbf16>) kernel {
  %i = vector.step : vector<16xindex>
  %eight = arith.constant dense<8> : vector<16xindex>
  %at = arith.muli %i, %eight : vector<16xindex>
  %mask = arith.constant dense<true> : vector<1xi1>
  %ta = xegpu.create_tdesc %A, %at : memref<200xbf16>, vector<16xindex> -> !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #turnedpairs>
  %tr = xegpu.create_tdesc %R, %at : memref<128xbf16>, vector<16xindex> -> !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #turnedpairs>
  %v = xegpu.load %ta, %mask {transpose} : !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #turnedpairs>, vector<1xi1> -> vector<4x2xbf16>
  xegpu.store %v, %tr, %mask {transpose} : vector<4x2xbf16>, !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #turnedpairs>, vector<1xi1>
  gpu.return
}
// -----
// xegpu.store: work-items, shared local memory
// subgroups 3
// work-items
gpu.func @k(%A: memref<96xf32>, %R: memref<96xf32>) kernel {
  %i = gpu.thread_id x
  %two = arith.constant 2 : index
  %last = arith.constant 47 : index
  %j = arith.subi %last, %i : index
  %from = arith.muli %i, %two : index
  %to = arith.muli %j, %two : index
  %mask = arith.constant true
  %s = memref.alloca() : memref<96xf32, 3>
  %v = xegpu.load %A[%from], %mask : memref<96xf32>, index, i1 -> vector<2xf32>
  xegpu.store %v, %s[%to], %mask : vector<2xf32>, memref<96xf32, 3>, index, i1
  gpu.barrier
  %w = xegpu.load %s[%from], %mask : memref<96xf32, 3>, index, i1 -> vector<2xf32>
  xegpu.store %w, %R[%from], %mask : vector<2xf32>, memref<96xf32>, index, i1
  gpu.return
}
// -----
// xegpu.prefetch: work-items, memref
// work-items
gpu.func @k(%A: memref<256xf32>, %R: memref<256xf32>) kernel {
  %i = gpu.lane_id
  %at = vector.broadcast %i : index to vector<1xindex>
  %mask = arith.constant dense<true> : vector<1xi1>
  xegpu.prefetch %A[%at] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}> : memref<256xf32>, vector<1xindex>
  %v = xegpu.load %A[%at], %mask : memref<256xf32>, vector<1xindex>, vector<1xi1> -> vector<1xf32>
  xegpu.store %v, %R[%at], %mask : vector<1xf32>, memref<256xf32>, vector<1xindex>, vector<1xi1>
  gpu.return
}
// -----
// xegpu.prefetch: work-items, address
// with A = 256xf16
// work-items
gpu.func @k(%A: i64, %R: memref<256xf16>) kernel {
  %i = gpu.lane_id
  %mask = arith.constant true
  xegpu.prefetch %A[%i] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>, offset_align_byte = 2}> : i64, index
  %v = xegpu.load %A[%i], %mask : i64, index, i1 -> f16
  xegpu.store %v, %R[%i], %mask : f16, memref<256xf16>, index, i1
  gpu.return
}
// -----
// xegpu.atomic_rmw: work-items, $KIND
// KIND = addi maxs minu xori
// work-items
gpu.func @k(%A: memref<16xi32>, %R: memref<20xi32>, %S: memref<16xi32>) kernel {
  %i = vector.step : vector<16xindex>
  %ta = xegpu.create_tdesc %A, %i : memref<16xi32>, vector<16xindex> -> !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>, #rows>
  %tr = xegpu.create_tdesc %R, %i : memref<20xi32>, vector<16xindex> -> !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>, #rows>
  %ts = xegpu.create_tdesc %S, %i : memref<16xi32>, vector<16xindex> -> !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>, #rows>
  %all = arith.constant dense<true> : vector<1xi1>
  %v = xegpu.load %ta, %all : !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>, #rows>, vector<1xi1> -> vector<1xi32>
  %few = arith.constant dense<11> : vector<16xindex>
  %mask = arith.cmpi ult, %i, %few : vector<16xindex>
  %old = xegpu.atomic_rmw $KIND %tr, %mask, %v : !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>, #rows>, vector<16xi1>, vector<1xi32> -> vector<1xi32>
  xegpu.store %old, %ts, %all : vector<1xi32>, !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>, #rows>, vector<1xi1>
  gpu.return
}
// -----
// xegpu.load_matrix: work-items
// subgroups 2
// work-items
gpu.func @k(%A: memref<256xf32>, %R: memref<256xf32>) kernel {
  %i = gpu.thread_id x
  %four = arith.constant 4 : index
  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  %at = arith.muli %i, %four : index
  %half = arith.divui %i, %two : index
  %odd = arith.remui %i, %two : index
  %column = arith.muli %odd, %four : index
  %x = arith.xori %half, %five : index
  %mask = arith.constant true
  %s = memref.alloca() : memref<512xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<512xi8, 3> -> !xegpu.mem_desc<16x8xf32>
  %v = xegpu.load %A[%at], %mask : memref<256xf32>, index, i1 -> vector<4xf32>
  xegpu.store_matrix %v, %d[%half, %column] : vector<4xf32>, !xegpu.mem_desc<16x8xf32>, index, index
  gpu.barrier
  %w = xegpu.load_matrix %d[%x, %column] : !xegpu.mem_desc<16x8xf32>, index, index -> vector<4xf32>
  xegpu.store %w, %R[%at], %mask : vector<4xf32>, memref<256xf32>, index, i1
  gpu.return
}
// -----
// xegpu.load_matrix: work-items, blocks and columns
// work-items
gpu.func @k(%A: memref<256xf16>, %R: memref<256xf16>) kernel {
  %i = gpu.thread_id x
  %four = arith.constant 4 : index
  %two = arith.constant 2 : index
  %at = arith.muli %i, %four : index
  %column = arith.muli %i, %two : index
  %mask = arith.constant true
  %s = memref.alloca() : memref<128xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<128xi8, 3> -> !xegpu.mem_desc<2x32xf16, #xegpu.mem_layout<stride = [1, 2], block = [2, 8]>>
  %v = xegpu.load %A[%at], %mask : memref<256xf16>, index, i1 -> vector<4xf16>
  %m = vector.shape_cast %v : vector<4xf16> to vector<2x2xf16>
  xegpu.store_matrix %m, %d[0, %column] : vector<2x2xf16>, !xegpu.mem_desc<2x32xf16, #xegpu.mem_layout<stride = [1, 2], block = [2, 8]>>, index
  gpu.barrier
  %p = xegpu.load_matrix %d[1, %i] : !xegpu.mem_desc<2x32xf16, #xegpu.mem_layout<stride = [1, 2], block = [2, 8]>>, index -> vector<1xf16>
  %q = vector.extract %p[0] : f16 from vector<1xf16>
  xegpu.store %q, %R[%i], %mask : f16, memref<256xf16>, index, i1
  gpu.return
}
// -----
// gpu.shuffle: $MODE
// MODE = xor up down idx
// subgroups 2
// work-items
gpu.func @k(%A: memref<32xf32>, %R: memref<32xf32>) kernel {
  %i = gpu.thread_id x
  %three = arith.constant 3 : i32
  %width = arith.constant 16 : i32
  %mask = arith.constant true
  %v = xegpu.load %A[%i], %mask : memref<32xf32>, index, i1 -> f32
  %s, %p = gpu.shuffle $MODE %v, %three, %width : f32
  %r = arith.select %p, %s, %v : f32
  xegpu.store %r, %R[%i], %mask : f32, memref<32xf32>, index, i1
  gpu.return
}
// -----
// gpu.shuffle: vectors of $KIND
// KIND = f32 f16 bf16 i8
// work-items
gpu.func @k(%A: memref<64x$KIND>, %R: memref<64x$KIND>) kernel {
  %i = gpu.lane_id
  %four = arith.constant 4 : index
  %at = arith.muli %i, %four : index
  %five = arith.constant 5 : i32
  %width = arith.constant 16 : i32
  %mask = arith.constant true
  %v = xegpu.load %A[%at], %mask : memref<64x$KIND>, index, i1 -> vector<4x$KIND>
  %s, %p = gpu.shuffle xor %v, %five, %width : vector<4x$KIND>
  xegpu.store %s, %R[%at], %mask : vector<4x$KIND>, memref<64x$KIND>, index, i1
  gpu.return
}
// -----
// gpu.lane_id: work-items
// subgroups 2
// work-items
gpu.func @k(%A: memref<96xf32>, %R: memref<96xf32>) kernel {
  %lane = gpu.lane_id
  %sg = gpu.subgroup_id : index
  %n = gpu.subgroup_size : index
  %part = arith.muli %sg, %n : index
  %i = arith.addi %part, %lane : index
  %mask = arith.constant true
  %v = xegpu.load %A[%i], %mask : memref<96xf32>, index, i1 -> f32
  %six = arith.constant 6 : index
  %low = arith.cmpi ult, %lane, %six : index
  scf.if %low {
    %w = arith.mulf %v, %v : f32
    xegpu.store %w, %R[%i], %mask : f32, memref<96xf32>, index, i1
  }
  gpu.return
}
// -----
// vector.reduction: work-items, $KIND
// KIND = add maxnumf
// tolerance 1e-5
// work-items
gpu.func @k(%A: memref<128xf32>, %R: memref<16xf32>) kernel {
  %i = gpu.lane_id
  %eight = arith.constant 8 : index
  %at = arith.muli %i, %eight : index
  %mask = arith.constant true
  %v = xegpu.load %A[%at], %mask : memref<128xf32>, index, i1 -> vector<8xf32>
  %s = vector.reduction <$KIND>, %v : vector<8xf32> into f32
  xegpu.store %s, %R[%i], %mask : f32, memref<16xf32>, index, i1
  gpu.return
}
// -----
// vector.bitcast: work-items
// work-items
gpu.func @k(%A: memref<64xf16>, %R: memref<32xi32>) kernel {
  %i = gpu.lane_id
  %four = arith.constant 4 : index
  %two = arith.constant 2 : index
  %at = arith.muli %i, %four : index
  %to = arith.muli %i, %two : index
  %mask = arith.constant true
  %v = xegpu.load %A[%at], %mask : memref<64xf16>, index, i1 -> vector<4xf16>
  %w = vector.bitcast %v : vector<4xf16> to vector<2xi32>
  xegpu.store %w, %R[%to], %mask : vector<2xi32>, memref<32xi32>, index, i1
  gpu.return
}
// -----
// vector.extract: work-items, at an index
// work-items
gpu.func @k(%A: memref<64xf32>, %R: memref<16xf32>) kernel {
  %i = gpu.lane_id
  %four = arith.constant 4 : index
  %at = arith.muli %i, %four : index
  %which = arith.remui %i, %four : index
  %mask = arith.constant true
  %v = xegpu.load %A[%at], %mask : memref<64xf32>, index, i1 -> vector<4xf32>
  %s = vector.extract %v[%which] : f32 from vector<4xf32>
  xegpu.store %s, %R[%i], %mask : f32, memref<16xf32>, index, i1
  gpu.return
}
// -----
// xegpu.alloc_nbarrier, init_nbarrier, nbarrier_arrive, nbarrier_wait: work-items, in pairs
// subgroups 4
// work-items
gpu.func @k(%A: memref<64xf32>, %R: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %s = memref.alloca() : memref<64xf32, 3>
  %g = gpu.subgroup_id : index
  %i = gpu.thread_id x
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %yes = arith.constant true
  xegpu.alloc_nbarrier 2
  %pair = arith.remui %g, %c2 : index
  %id = arith.index_cast %pair : index to i8
  %count = arith.constant 2 : i8
  %b = xegpu.init_nbarrier %id, %count : i8, i8 -> !xegpu.nbarrier
  %gives = arith.cmpi ult, %g, %c2 : index
  scf.if %gives {
    %v = xegpu.load %A[%i], %yes : memref<64xf32>, index, i1 -> f32
    xegpu.store %v, %s[%i], %yes : f32, memref<64xf32, 3>, index, i1
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
  } else {
    %j = arith.subi %i, %c32 : index
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    xegpu.nbarrier_wait %b : !xegpu.nbarrier
    %v = xegpu.load %s[%j], %yes : memref<64xf32, 3>, index, i1 -> f32
    xegpu.store %v, %R[%i], %yes : f32, memref<64xf32>, index, i1
  }
  gpu.return
}
// -----
// vector.load: work-items
// subgroups 2
// work-items
gpu.func @k(%A: memref<40x24xf32>, %R: memref<40x24xf32>, %S: memref<256xf32>) kernel {
  %i = gpu.thread_id x
  %two = arith.constant 2 : index
  %row = arith.divui %i, %two : index
  %odd = arith.remui %i, %two : index
  %eight = arith.constant 8 : index
  %column = arith.muli %odd, %eight : index
  %to = arith.muli %i, %eight : index
  %yes = arith.constant true
  %v = vector.load %A[%i, %column] : memref<40x24xf32>, vector<2x4xf32>
  %w = vector.shape_cast %v : vector<2x4xf32> to vector<8xf32>
  vector.store %w, %R[%row, %column] : memref<40x24xf32>, vector<8xf32>
  xegpu.store %w, %S[%to], %yes : vector<8xf32>, memref<256xf32>, index, i1
  gpu.return
}
// -----
// gpu.subgroup_reduce: work-items, $HOW
// HOW = all clusters
// tolerance 1e-5
// subgroups 2
// work-items
gpu.func @k(%A: memref<32xf32>, %R: memref<32xf32>) kernel {
  %i = gpu.thread_id x
  %yes = arith.constant true
  %v = xegpu.load %A[%i], %yes : memref<32xf32>, index, i1 -> f32
  %all = gpu.subgroup_reduce add %v : (f32) -> f32
  %clusters = gpu.subgroup_reduce maximumf %v cluster(size = 4, stride = 2) : (f32) -> f32
  xegpu.store %$HOW, %R[%i], %yes : f32, memref<32xf32>, index, i1
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map of pairs of bytes
// work-items
gpu.func @k(%A: memref<16x96xi8>, %R: memref<16x96xi8>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xi8> -> !xegpu.tensor_desc<8x32xi8, #pairs>
  %tr = xegpu.create_nd_tdesc %R : memref<16x96xi8> -> !xegpu.tensor_desc<8x32xi8, #rows>
  %v = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x32xi8, #pairs> -> vector<8x2xi8>
  %w = vector.shape_cast %v : vector<8x2xi8> to vector<16x1xi8>
  xegpu.store_nd %w, %tr[0, 64] : vector<16x1xi8>, !xegpu.tensor_desc<8x32xi8, #rows>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map transposed f16
// work-items
gpu.func @k(%A: memref<48x64xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x64xf16> -> !xegpu.tensor_desc<16x16xf16, #turned>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x16xf16, #rows>
  %v = xegpu.load_nd %ta[32, 16] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x16xf16, #turned> -> vector<16x1xf16>
  xegpu.store_nd %v, %tr[0, 16] : vector<16x1xf16>, !xegpu.tensor_desc<16x16xf16, #rows>
  gpu.return
}
// -----
// xegpu.load_nd: work-items, sg_map and array_length
// work-items
gpu.func @k(%A: memref<24x64xbf16>, %R: memref<32x48xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<24x64xbf16> -> !xegpu.tensor_desc<8x16xbf16, #xegpu.block_tdesc_attr<array_length = 2>, #rows>
  %tr = xegpu.create_nd_tdesc %R : memref<32x48xbf16> -> !xegpu.tensor_desc<16x16xbf16, #rows>
  %v = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<8x16xbf16, #xegpu.block_tdesc_attr<array_length = 2>, #rows> -> vector<16x1xbf16>
  xegpu.store_nd %v, %tr[0, 16] : vector<16x1xbf16>, !xegpu.tensor_desc<16x16xbf16, #rows>
  gpu.return
}
// -----
// xegpu.load: work-items, a transposition through chunks
// work-items
gpu.func @k(%A: memref<64xf32>, %R: memref<64xf32>) kernel {
  %i = vector.step : vector<16xindex>
  %four = arith.constant dense<4> : vector<16xindex>
  %at = arith.muli %i, %four : vector<16xindex>
  %mask = arith.constant dense<true> : vector<16xi1>
  %ta = xegpu.create_tdesc %A, %at : memref<64xf32>, vector<16xindex> -> !xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #turned>
  %tr = xegpu.create_nd_tdesc %R[0] : memref<64xf32> -> !xegpu.tensor_desc<64xf32>
  %v = xegpu.load %ta, %mask {transpose} : !xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #turned>, vector<16xi1> -> vector<4x1xf32>
  %w = vector.shape_cast %v : vector<4x1xf32> to vector<4xf32>
  xegpu.store_nd %w, %tr : vector<4xf32>, !xegpu.tensor_desc<64xf32>
  gpu.return
}
// -----
// vector.deinterleave: work-items
// work-items
gpu.func @k(%A: memref<24x64xbf16>, %R: memref<24x64xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<24x64xbf16> -> !xegpu.tensor_desc<12x32xbf16, #pairs>
  %tr = xegpu.create_nd_tdesc %R : memref<24x64xbf16> -> !xegpu.tensor_desc<12x32xbf16, #pairs>
  %v = xegpu.load_nd %ta[12, 32] : !xegpu.tensor_desc<12x32xbf16, #pairs> -> vector<12x2xbf16>
  %one, %two = vector.deinterleave %v : vector<12x2xbf16> -> vector<12x1xbf16>
  %w = vector.interleave %two, %one : vector<12x1xbf16> -> vector<12x2xbf16>
  xegpu.store_nd %w, %tr[0, 0] : vector<12x2xbf16>, !xegpu.tensor_desc<12x32xbf16, #pairs>
  gpu.return
}
