// The rules of the dialect's specification, each as one kernel that keeps it and one that breaks it.
// -----
// valid: a descriptor of a static memref
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// valid: a descriptor of a dynamic memref
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %c1 = arith.constant 1 : index
  %t = xegpu.create_nd_tdesc %D, shape : [%n, %n], strides : [%n, %c1] : memref<?x?xf16> -> !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// valid: a descriptor of an address
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %c1 = arith.constant 1 : index
  %t = xegpu.create_nd_tdesc %p, shape : [%n, %n], strides : [%n, %c1] : i64 -> !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// valid: a block and its hints
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %x = xegpu.load_nd %t[0, %n] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<uncached>}> : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
  gpu.return
}
}
// -----
// valid: a packed block
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
  %x = xegpu.load_nd %t[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
  gpu.return
}
}
// -----
// valid: a transposed block
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<16x8xf16>
  %x = xegpu.load_nd %t[0, 0] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x8xf16> -> vector<8x16xf16>
  gpu.return
}
}
// -----
// valid: two blocks side by side
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
  %x = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<2x8x16xf16>
  gpu.return
}
}
// -----
// valid: a prefetch
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  xegpu.prefetch_nd %t[0, 0] <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// valid: a gather of a memref
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = xegpu.load %L[%o], %mask : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
  gpu.return
}
}
// -----
// valid: a gather of chunks
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = xegpu.load %L[%o], %mask <{chunk_size = 8}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x8xf32>
  gpu.return
}
}
// -----
// valid: a scatter
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  xegpu.store %f, %L[%o], %mask <{l1_hint = #xegpu.cache_hint<write_back>}> : vector<16xf32>, memref<1024xf32>, vector<16xindex>, vector<16xi1>
  gpu.return
}
}
// -----
// valid: a prefetch of addresses
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  xegpu.prefetch %p[%o] <{offset_align_byte = 4}> : i64, vector<16xindex>
  gpu.return
}
}
// -----
// valid: a product
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %a = arith.constant dense<1.0> : vector<8x16xf16>
  %b = arith.constant dense<1.0> : vector<16x16xf16>
  %c = xegpu.dpas %a, %b, %v : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
  gpu.return
}
}
// -----
// valid: a fence
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  xegpu.fence memory_kind = global, fence_scope = workgroup
  gpu.return
}
}
// -----
// valid: a named barrier
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %i = arith.constant 1 : i8
  %b = xegpu.init_nbarrier %i, %i : i8, i8 -> !xegpu.nbarrier
  xegpu.nbarrier_arrive %b : !xegpu.nbarrier
  xegpu.nbarrier_wait %b : !xegpu.nbarrier
  gpu.return
}
}
// -----
// valid: a matrix in local memory
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %d = xegpu.create_mem_desc %S : memref<2048xi8, 3> -> !xegpu.mem_desc<16x32xf32>
  xegpu.store_matrix %v, %d[0, 16] : vector<8x16xf32>, !xegpu.mem_desc<16x32xf32>
  %x = xegpu.load_matrix %d[8, 0] : !xegpu.mem_desc<16x32xf32> -> vector<8x16xf32>
  gpu.return
}
}
// -----
// valid: a layout of sub-groups, instructions and lanes
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16, #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 32], inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1], order = [1, 0]>>
  gpu.return
}
}
// -----
// valid: a conversion of layouts
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = xegpu.convert_layout %v <{input_layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>, target_layout = #xegpu.layout<lane_layout = [8, 2], lane_data = [1, 1]>}> : vector<8x16xf32>
  gpu.return
}
}
// -----
// valid: a slice of a layout
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = arith.negf %f {layout_result_0 = #xegpu.slice<#xegpu.layout<sg_layout = [2, 2], sg_data = [8, 8]>, dims = [0]>} : vector<16xf32>
  gpu.return
}
}
// -----
// invalid: a memref of other elements
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
}
// -----
// invalid: a block of more dimensions than its matrix
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %L : memref<1024xf32> -> !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
}
// -----
// invalid: a descriptor in another memory
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<16xf16, #xegpu.block_tdesc_attr<memory_space = slm>>
  gpu.return
}
}
// -----
// invalid: a block of another shape than its vector
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %x = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x8xf16>
  gpu.return
}
}
// -----
// invalid: a store of another shape
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %x = arith.constant dense<1.0> : vector<8x8xf16>
  xegpu.store_nd %x, %t[0, 0] : vector<8x8xf16>, !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// invalid: a load that writes back
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %x = xegpu.load_nd %t[0, 0] <{l1_hint = #xegpu.cache_hint<write_back>}> : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
  gpu.return
}
}
// -----
// invalid: a prefetch that writes back
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  xegpu.prefetch_nd %t[0, 0] <{l1_hint = #xegpu.cache_hint<write_back>}> : !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// invalid: a store that invalidates
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %x = arith.constant dense<1.0> : vector<8x16xf16>
  xegpu.store_nd %x, %t[0, 0] <{l1_hint = #xegpu.cache_hint<read_invalidate>}> : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// invalid: a store of several blocks
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
  %x = arith.constant dense<1.0> : vector<2x8x16xf16>
  xegpu.store_nd %x, %t[0, 0] : vector<2x8x16xf16>, !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
  gpu.return
}
}
// -----
// invalid: a transpose to another shape
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<16x8xf16>
  %x = xegpu.load_nd %t[0, 0] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x8xf16> -> vector<16x8xf16>
  gpu.return
}
}
// -----
// invalid: a mask of another length
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %m = arith.constant dense<true> : vector<8xi1>
  %x = xegpu.load %L[%o], %m : memref<1024xf32>, vector<16xindex>, vector<8xi1> -> vector<16xf32>
  gpu.return
}
}
// -----
// invalid: a gather of another element
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = xegpu.load %L[%o], %mask : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf16>
  gpu.return
}
}
// -----
// invalid: a gather that writes back
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = xegpu.load %L[%o], %mask <{l1_hint = #xegpu.cache_hint<write_back>}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
  gpu.return
}
}
// -----
// invalid: a prefetch of addresses that are not aligned
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  xegpu.prefetch %p[%o] : i64, vector<16xindex>
  gpu.return
}
}
// -----
// invalid: a prefetch of a memref that says its alignment
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  xegpu.prefetch %L[%o] <{offset_align_byte = 4}> : memref<1024xf32>, vector<16xindex>
  gpu.return
}
}
// -----
// invalid: a product whose inner dimensions differ
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %a = arith.constant dense<1.0> : vector<8x8xf16>
  %b = arith.constant dense<1.0> : vector<16x16xf16>
  %c = xegpu.dpas %a, %b : vector<8x8xf16>, vector<16x16xf16> -> vector<8x16xf32>
  gpu.return
}
}
// -----
// invalid: a product of another shape
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %a = arith.constant dense<1.0> : vector<8x16xf16>
  %b = arith.constant dense<1.0> : vector<16x16xf16>
  %c = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x16xf16> -> vector<8x8xf32>
  gpu.return
}
}
// -----
// invalid: an accumulator of another shape
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %a = arith.constant dense<1.0> : vector<4x16xf16>
  %b = arith.constant dense<1.0> : vector<16x16xf16>
  %c = xegpu.dpas %a, %b, %v : vector<4x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<4x16xf32>
  gpu.return
}
}
// -----
// invalid: a matrix larger than its buffer
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %d = xegpu.create_mem_desc %S : memref<2048xi8, 3> -> !xegpu.mem_desc<32x32xf32>
  gpu.return
}
}
// -----
// invalid: a matrix in global memory
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %d = xegpu.create_mem_desc %A : memref<64x64xf16> -> !xegpu.mem_desc<64x64xf16>
  gpu.return
}
}
// -----
// invalid: a layout whose parts have other ranks
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16, #xegpu.layout<sg_layout = [2, 2], sg_data = [32]>>
  gpu.return
}
}
// -----
// invalid: data of sub-groups without their layout
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16, #xegpu.layout<sg_data = [32, 32], lane_layout = [1, 16], lane_data = [1, 1]>>
  gpu.return
}
}
// -----
// invalid: lanes without their data
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16, #xegpu.layout<lane_layout = [1, 16]>>
  gpu.return
}
}
// -----
// stricter: an order that is no permutation
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16, #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 32], order = [1, 1]>>
  gpu.return
}
}
// -----
// invalid: a layout of another rank than its block
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16, #xegpu.layout<sg_layout = [2], sg_data = [32]>>
  gpu.return
}
}
// -----
// stricter: a slice of a dimension that is not there
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = arith.negf %f {layout_result_0 = #xegpu.slice<#xegpu.layout<sg_layout = [2, 2], sg_data = [8, 8]>, dims = [2]>} : vector<16xf32>
  gpu.return
}
}
// -----
// invalid: a conversion between levels
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %x = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [1, 1], sg_data = [8, 16]>, target_layout = #xegpu.layout<lane_layout = [16, 1], lane_data = [1, 1]>}> : vector<8x16xf32>
  gpu.return
}
}
// -----
// invalid: an unknown hint
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  xegpu.prefetch_nd %t[0, 0] <{l1_hint = #xegpu.cache_hint<warm>}> : !xegpu.tensor_desc<8x16xf16>
  gpu.return
}
}
// -----
// stricter: an unknown property
gpu.module @m {
gpu.func @k(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %L: memref<1024xf32>, %S: memref<2048xi8, 3>, %p: i64,
            %n: index, %o: vector<16xindex>, %mask: vector<16xi1>, %v: vector<8x16xf32>, %f: vector<16xf32>) {
  %t = xegpu.create_nd_tdesc %A : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %x = xegpu.load_nd %t[0, 0] <{paked}> : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
  gpu.return
}
}
