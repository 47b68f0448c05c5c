// RUN: xdsl-opt %s --split-input-file | filecheck %s
// RUN: xdsl-opt %s --split-input-file | xdsl-opt --split-input-file | filecheck %s
// RUN: xdsl-opt %s --split-input-file --print-op-generic | xdsl-opt --split-input-file | filecheck %s

// Scattered elements, as MLIR writes them.
%A, %p, %o, %m, %k, %v, %w, %x = "test.op"() : () -> (memref<1024xf32>, i64, vector<16xindex>, vector<16xi1>, index, vector<16xf32>, vector<16x8xf32>, index)
%t = xegpu.create_tdesc %A, %o : memref<1024xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
%c = xegpu.create_tdesc %p, %o : i64, vector<16xindex> -> !xegpu.tensor_desc<16x8xf32, #xegpu.scattered_tdesc_attr<chunk_size = 8>>
%l = xegpu.create_tdesc %A[0, 4, %x, 12] : memref<1024xf32> -> !xegpu.tensor_desc<4xf32, #xegpu.scatter_tdesc_attr<memory_space = global>>
%a = xegpu.load %t, %m <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xf32>
%b = xegpu.load %A[%o], %m <{chunk_size = 8 : i64}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x8xf32>
%d = xegpu.load %A[%o], %m : memref<1024xf32>, vector<16xi1>, vector<16xindex> -> vector<16xf32>
xegpu.store %v, %t, %m : vector<16xf32>, !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>
xegpu.store %w, %p[%o], %m <{chunk_size = 8 : i64}> : vector<16x8xf32>, i64, vector<16xindex>, vector<16xi1>
xegpu.prefetch %t : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
xegpu.prefetch %A[%o] <{l3_hint = #xegpu.cache_hint<cached>}> : memref<1024xf32>, vector<16xindex>
xegpu.prefetch %p[%x] <{offset_align_byte = 2 : i64}> : i64, index
%u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>
%r = xegpu.atomic_rmw addf %t, %m, %v : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %t = xegpu.create_tdesc %A, %o : memref<1024xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   %c = xegpu.create_tdesc %p, %o : i64, vector<16xindex> -> !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8 : i64>>
// CHECK-NEXT:   %l = xegpu.create_tdesc %A[0, 4, %x, 12] : memref<1024xf32> -> !xegpu.tensor_desc<4xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   %a = xegpu.load %t, %m <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xf32>
// CHECK-NEXT:   %b = xegpu.load %A[%o], %m <{chunk_size = 8 : i64}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x8xf32>
// CHECK-NEXT:   %d = xegpu.load %A[%o], %m : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
// CHECK-NEXT:   xegpu.store %v, %t, %m : vector<16xf32>, !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>
// CHECK-NEXT:   xegpu.store %w, %p[%o], %m <{chunk_size = 8 : i64}> : vector<16x8xf32>, i64, vector<16xindex>, vector<16xi1>
// CHECK-NEXT:   xegpu.prefetch %t : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   xegpu.prefetch %A[%o] <{l3_hint = #xegpu.cache_hint<cached>}> : memref<1024xf32>, vector<16xindex>
// CHECK-NEXT:   xegpu.prefetch %p[%x] <{offset_align_byte = 2 : i64}> : i64, index
// CHECK-NEXT:   %u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>
// CHECK-NEXT:   %r = xegpu.atomic_rmw addf %t, %m, %v : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
// CHECK-NEXT: }

// -----

// The same as the RFC writes them.
#chunks = #xegpu.tdesc_attr<memory_space=slm, chunk_size=8, scattered=true>
%S, %p, %o, %m, %v, %w = "test.op"() : () -> (memref<1024xui16, 3>, ui64, vector<16xindex>, vector<16xi1>, vector<16xbf16>, vector<8x16xui16>)
%t = xegpu.create_tdesc %p, %o : uint64, vector<16xindex>, into tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>
%c = xegpu.create_tdesc, %S, %o : memref<1024xui16, 3>, vector<16xindex> into tensor_desc<16x8xui16, #chunks>
%a = xegpu.load %t, %m {L1_hint = cached, L2_hint = uncached} : tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> into vector<16xbf16>
%b = xegpu.load %c, %m {L1 = cached, L2 = uncached, transpose} : tensor_desc<16x8xui16, #chunks>, vector<16xi1> -> vector<8x16xui16>
xegpu.store %v, %t, %m : vector<16xbf16>, vector<16xi1>, tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>
xegpu.store %w, %c, %m {transpose = [1, 0], memory_space = slm} : vector<8x16xui16>, tensor_desc<16x8xui16, #chunks>, vector<16xi1>
xegpu.prefetch %t {L1 = cached} : tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>
%u = xegpu.update_offsets %t, %o : tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>, into tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>
%r = xegpu.atomic_rmw "addf" %v, %t, %m : vector<16xbf16>, tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> to vector<16xbf16>
%s = xegpu.atomic_rmw "assign", %v, %t, %m : vector<16xbf16>, tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %t = xegpu.create_tdesc %p, %o : ui64, vector<16xindex> -> !xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   %c = xegpu.create_tdesc %S, %o : memref<1024xui16, 3 : i64>, vector<16xindex> -> !xegpu.tensor_desc<16x8xui16, #xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 8 : i64>>
// CHECK-NEXT:   %a = xegpu.load %t, %m <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<uncached>}> : !xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xbf16>
// CHECK-NEXT:   %b = xegpu.load %c, %m <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<uncached>, transpose}> : !xegpu.tensor_desc<16x8xui16, #xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 8 : i64>>, vector<16xi1> -> vector<8x16xui16>
// CHECK-NEXT:   xegpu.store %v, %t, %m : vector<16xbf16>, !xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>
// CHECK-NEXT:   xegpu.store %w, %c, %m <{transpose}> {memory_space = #xegpu.memory_space<slm>} : vector<8x16xui16>, !xegpu.tensor_desc<16x8xui16, #xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 8 : i64>>, vector<16xi1>
// CHECK-NEXT:   xegpu.prefetch %t <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   %u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>
// CHECK-NEXT:   %r = xegpu.atomic_rmw addf %t, %m, %v : !xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xbf16> -> vector<16xbf16>
// CHECK-NEXT:   %s = xegpu.atomic_rmw assign %t, %m, %v : !xegpu.tensor_desc<16xbf16, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xbf16> -> vector<16xbf16>
// CHECK-NEXT: }

// -----

// One work-item: scalars, vectors of one offset, and fragments of a descriptor with an sg_map.
#map = #xegpu.sg_map<wi_layout = [16, 1], wi_data = [1, 2]>
%p, %x, %b, %o, %m, %t = "test.op"() : () -> (i64, index, i1, vector<1xindex>, vector<1xi1>, !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<memory_space=slm, chunk_size=8>, #map>)
%a = xegpu.load %p[%x], %b : i64, index, i1 -> f32
%c = xegpu.load %p[%o], %m : i64, vector<1xindex>, vector<1xi1> -> vector<8xf32>
%d = xegpu.load %t, %m {L1 = cached, transpose=[1,0]} : tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<memory_space=slm, chunk_size=8>, #map>, vector<1xi1> -> vector<4x2xbf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %a = xegpu.load %p[%x], %b : i64, index, i1 -> f32
// CHECK-NEXT:   %c = xegpu.load %p[%o], %m : i64, vector<1xindex>, vector<1xi1> -> vector<8xf32>
// CHECK-NEXT:   %d = xegpu.load %t, %m <{l1_hint = #xegpu.cache_hint<cached>, transpose}> : !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 8 : i64>, #xegpu.sg_map<wi_layout = [16, 1], wi_data = [1, 2]>>, vector<1xi1> -> vector<4x2xbf16>
// CHECK-NEXT: }

// -----

// dpas: plain, in words, without c, c first, with layouts, with layouts that have no name, and what a work-item holds.
#a = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>
#b = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>
%a, %a3, %b, %b3, %c = "test.op"() : () -> (vector<8x16xf16>, vector<8x8x2xf16>, vector<16x32xf16>, vector<8x32x2xf16>, vector<8x32xf32>)
%0 = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x32xf16> -> vector<8x32xf32>
%1 = xegpu.dpas %a, %b3, %c <{layout_cd = #xegpu.layout<sg_layout = [2, 1], sg_data = [4, 32]>}> {test.key} : vector<8x16xf16>, vector<8x32x2xf16>, vector<8x32xf32> -> vector<8x32xf32>
%2 = xegpu.dpas %c, %a3, %b3 : vector<8x32xf32>, vector<8x8x2xf16>, vector<8x32x2xf16> -> vector<8x32xf32>
%3 = xegpu.dpas %a, %b, %c {#a #b #a} : vector<8x16xf16>, vector<16x32xf16> into vector<8x32xf32>
%la, %lb, %lc = "test.op"() : () -> (vector<8x1xbf16>, vector<8x2xbf16>, vector<8xf32>)
%4 = xegpu.dpas %la, %lb {#a} : vector<8x1xbf16>, vector<8x2xbf16> into vector<8x1xf32>
%fa, %fb = "test.op"() : () -> (vector<8xbf16>, vector<16xbf16>)
%5 = xegpu.dpas %fa, %fb, %lc : vector<8xbf16>, vector<16xbf16>, vector<8xf32> -> vector<8xf32>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x32xf16> -> vector<8x32xf32>
// CHECK-NEXT:   = xegpu.dpas %a, %b3, %c {layout_cd = #xegpu.layout<sg_layout = [2, 1], sg_data = [4, 32]>, test.key} : vector<8x16xf16>, vector<8x32x2xf16>, vector<8x32xf32> -> vector<8x32xf32>
// CHECK-NEXT:   = xegpu.dpas %a3, %b3, %c : vector<8x8x2xf16>, vector<8x32x2xf16>, vector<8x32xf32> -> vector<8x32xf32>
// CHECK-NEXT:   = xegpu.dpas %a, %b, %c {layout_a = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>, layout_b = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>, layout_cd = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>} : vector<8x16xf16>, vector<16x32xf16>, vector<8x32xf32> -> vector<8x32xf32>
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   = xegpu.dpas %la, %lb {layout_cd = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>} : vector<8x1xbf16>, vector<8x2xbf16> -> vector<8x1xf32>
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   = xegpu.dpas %fa, %fb, %lc : vector<8xbf16>, vector<16xbf16>, vector<8xf32> -> vector<8xf32>
// CHECK-NEXT: }

// -----

// convert_layout: the layouts by name; target and source after the value; source and target before it.
#a = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>
#b = #xegpu.layout<sg_layout = [8, 1], sg_data = [2, 32], order = [0, 1]>
%v = "test.op"() : () -> vector<16x32xf32>
%0 = xegpu.convert_layout %v <{input_layout = #a, target_layout = #b}> : vector<16x32xf32>
%1 = xegpu.convert_layout %v {#b #a} : vector<16x32xf32> into vector<16x32xf32>
%2 = xegpu.convert_layout {#a #b} %v : vector<16x32xf32>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>, target_layout = #xegpu.layout<sg_layout = [8, 1], sg_data = [2, 32], order = [0, 1]>}> : vector<16x32xf32>
// CHECK-NEXT:   = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>, target_layout = #xegpu.layout<sg_layout = [8, 1], sg_data = [2, 32], order = [0, 1]>}> : vector<16x32xf32>
// CHECK-NEXT:   = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>, target_layout = #xegpu.layout<sg_layout = [8, 1], sg_data = [2, 32], order = [0, 1]>}> : vector<16x32xf32>
// CHECK-NEXT: }

// -----

// Shared local memory.
#blocked = #xegpu.mem_layout<stride = [1, 32], block = [16, 16]>
%S, %m, %v = "test.op"() : () -> (memref<8192xi8, 3>, index, vector<16x32xf16>)
%d = xegpu.create_mem_desc %S : memref<8192xi8, 3> -> !xegpu.mem_desc<2x32x64xf16>
%e = xegpu.mem_desc_subview %d[1, %m, 32] : !xegpu.mem_desc<2x32x64xf16> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
%a = xegpu.load_matrix %d[0, %m, 32] <{layout = #xegpu.layout<sg_layout = [1, 2, 1], sg_data = [1, 8, 32]>}> : !xegpu.mem_desc<2x32x64xf16>, index -> vector<1x16x32xf16>
xegpu.store_matrix %v, %e[0, 0] {test.key} : vector<16x32xf16>, !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
%f = "test.op"() : () -> !xegpu.mem_desc<32x64xf16, #blocked>
%b = xegpu.load_matrix %f[0, %m] <{subgroup_block_io}> : mem_desc<32x64xf16, #blocked> -> vector<16x16xf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %d = xegpu.create_mem_desc %S : memref<8192xi8, 3 : i64> -> !xegpu.mem_desc<2x32x64xf16>
// CHECK-NEXT:   %e = xegpu.mem_desc_subview %d[1, %m, 32] : !xegpu.mem_desc<2x32x64xf16> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
// CHECK-NEXT:   %a = xegpu.load_matrix %d[0, %m, 32] <{layout = #xegpu.layout<sg_layout = [1, 2, 1], sg_data = [1, 8, 32]>}> : !xegpu.mem_desc<2x32x64xf16>, index -> vector<1x16x32xf16>
// CHECK-NEXT:   xegpu.store_matrix %v, %e[0, 0] {test.key} : vector<16x32xf16>, !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %b = xegpu.load_matrix %f[0, %m] <{subgroup_block_io}> : !xegpu.mem_desc<32x64xf16, #xegpu.mem_layout<stride = [1, 32], block = [16, 16]>>, index -> vector<16x16xf16>
// CHECK-NEXT: }

// -----

// Named barriers and fences.
%i, %n = "test.op"() : () -> (i8, i8)
xegpu.alloc_nbarrier 8
xegpu.alloc_nbarrier %n : i8
%b = xegpu.init_nbarrier %i, %n : i8, i8 -> !xegpu.nbarrier
%c = xegpu.init_nbarrier %i, %n : Uint8_t, Uint8_t into nbarrier
xegpu.nbarrier_arrive %b : !xegpu.nbarrier
xegpu.nbarrier_wait %b
xegpu.fence memory_kind = slm, fence_scope = workgroup
xegpu.fence {scope = "gpu", memory_kind = "shared",}
xegpu.fence {scope = gpu, memory_kind = global}
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   xegpu.alloc_nbarrier 8
// CHECK-NEXT:   xegpu.alloc_nbarrier %n : i8
// CHECK-NEXT:   %b = xegpu.init_nbarrier %i, %n : i8, i8 -> !xegpu.nbarrier
// CHECK-NEXT:   %c = xegpu.init_nbarrier %i, %n : i8, i8 -> !xegpu.nbarrier
// CHECK-NEXT:   xegpu.nbarrier_arrive %b : !xegpu.nbarrier
// CHECK-NEXT:   xegpu.nbarrier_wait %b : !xegpu.nbarrier
// CHECK-NEXT:   xegpu.fence memory_kind = slm, fence_scope = workgroup
// CHECK-NEXT:   xegpu.fence memory_kind = slm, fence_scope = gpu
// CHECK-NEXT:   xegpu.fence memory_kind = global, fence_scope = gpu
// CHECK-NEXT: }

// -----

// Attributes that stand anywhere.
"test.op"() {a = #xegpu.range<[2 : i64, 4 : i64]>, b = #xegpu.slice<#xegpu.slice<#xegpu.layout<sg_layout = [4, 8, 1], sg_data = [16, 16, 1]>, dims = [0]>, dim = [1]>, c = #xegpu.layout<sg_layout = [4, 8], order = [1, 0]>, d = #xegpu.sg_map<sg_layout = [2, 2], sg_data = [32, 128], wi_layout = [1, 16], wi_data = [1, 1], order = [1, 0]>} : () -> ()
"test.op"() {a = #xegpu.memory_space<shared>, b = #xegpu.fence_scope<gpu>, c = #xegpu.block_tdesc_attr<sg = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>, d = #xegpu.mem_layout<block = [8, 8]>} : () -> ()
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"() {a = #xegpu.range<[2, 4]>, b = #xegpu.slice<#xegpu.slice<#xegpu.layout<sg_layout = [4, 8, 1], sg_data = [16, 16, 1]>, dims = [0]>, dims = [1]>, c = #xegpu.layout<sg_layout = [4, 8], order = [1, 0]>, d = #xegpu.sg_map<sg_layout = [2, 2], sg_data = [32, 128], wi_layout = [1, 16], wi_data = [1, 1], order = [1, 0]>} : () -> ()
// CHECK-NEXT:   "test.op"() {a = #xegpu.memory_space<slm>, b = #xegpu.fence_scope<gpu>, c = #xegpu.block_tdesc_attr<sg_map = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>, d = #xegpu.mem_layout<block = [8, 8]>} : () -> ()
// CHECK-NEXT: }
