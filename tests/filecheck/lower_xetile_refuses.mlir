// RUN: xdsl-opt -p lower-xetile --split-input-file --verify-diagnostics %s | filecheck %s
%t, %v = "test.op"() : () -> (!xetile.tile<64x16xf16>, vector<64x16xf16>)
xetile.store_tile %v, %t : vector<64x16xf16>, !xetile.tile<64x16xf16>
// CHECK: lower-xetile: expected a tile from init_tile, update_tile_offset, scf.for or scf.if, got one from test.op

// -----

%A, %B, %p = "test.op"() : () -> (memref<512x96xf16>, memref<512x96xf16>, i1)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%u = xetile.init_tile %B[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%v = arith.select %p, %t, %u : !xetile.tile<64x32xf16>
xetile.prefetch_tile %v : !xetile.tile<64x32xf16>
// CHECK: lower-xetile: expected a tile from init_tile, update_tile_offset, scf.for or scf.if, got one from arith.select

// -----

#a = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 16]>
#b = #xetile.wg_map<sg_layout = [8, 1], sg_data = [16, 64]>
#c = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 64]>
%a, %b = "test.op"() : () -> (vector<64x32xf16>, vector<32x64xf16>)
%d = xetile.tile_mma %a, %b {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
// CHECK: infer-maps: expected every sub-group to have all of K = 32, got sg_data [8, 16] of a of tile_mma

// -----

%s, %v = "test.op"() : () -> (memref<64x32xf16, 3>, vector<64x32xf16>)
%t = xetile.init_tile %s[0, 0] : memref<64x32xf16, 3> -> !xetile.tile<64x32xf16, #xetile.tile_attr<memory_space = 3 : i32>>
xetile.store_tile %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16, #xetile.tile_attr<memory_space = 3 : i32>>
// CHECK: lower-xetile: expected local memory from memref.alloc, memref.alloca, memref.view, memref.transpose or a workgroup buffer of the kernel, got it from test.op

// -----

%s, %n, %v = "test.op"() : () -> (memref<?x?xf16, 3>, index, vector<64x32xf16>)
%t = xetile.init_tile %s[0, 0], [%n, %n], [%n, 1] : memref<?x?xf16, 3> -> !xetile.tile<64x32xf16, #xetile.tile_attr<memory_space = 3 : i32>>
xetile.store_tile %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16, #xetile.tile_attr<memory_space = 3 : i32>>
// CHECK: lower-xetile: expected a memref of static shape in local memory, got memref<?x?xf16, 3 : i64>

// -----

%s, %v = "test.op"() : () -> (memref<2x64x32xf16, strided<[4096, 32, 1]>, 3>, vector<64x32xf16>)
%t = xetile.init_tile %s[0, 0, 0] : memref<2x64x32xf16, strided<[4096, 32, 1]>, 3> -> !xetile.tile<64x32xf16, #xetile.tile_attr<memory_space = 3 : i32>>
xetile.store_tile %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16, #xetile.tile_attr<memory_space = 3 : i32>>
// CHECK: lower-xetile: expected dense matrices in local memory, got memref<2x64x32xf16, strided<[4096, 32, 1]>, 3 : i64>

// -----

#s = #xetile.tile_attr<scattered = true>
%A, %i = "test.op"() : () -> (memref<?x8xf16>, vector<1x32xindex>)
%t = xetile.init_tile %A, %i : memref<?x8xf16>, vector<1x32xindex> -> !xetile.tile<1x32xf16, #s>
xetile.prefetch_tile %t : !xetile.tile<1x32xf16, #s>
// CHECK: lower-xetile: expected a dense memref of static shape under a scattered tile, got memref<?x8xf16>

// -----

#t = #xetile.tile_attr<order = [0, 1]>
%A = "test.op"() : () -> memref<200x136xf16, strided<[1, ?]>>
%t = xetile.init_tile %A[0, 0] : memref<200x136xf16, strided<[1, ?]>> -> !xetile.tile<64x64xf16, #t>
xetile.prefetch_tile %t : !xetile.tile<64x64xf16, #t>
// CHECK: lower-xetile: expected a memref with static strides, got memref<200x136xf16, strided<[1, ?]>>

// -----

#t = #xetile.tile_attr<order = [0, 1]>
%A = "test.op"() : () -> memref<200x136xf16, strided<[1, 200], offset: ?>>
%t = xetile.init_tile %A[0, 0] : memref<200x136xf16, strided<[1, 200], offset: ?>> -> !xetile.tile<64x64xf16, #t>
xetile.prefetch_tile %t : !xetile.tile<64x64xf16, #t>
// CHECK: lower-xetile: expected a memref with a static offset, got memref<200x136xf16, strided<[1, 200], offset: ?>>
