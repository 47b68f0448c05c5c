// RUN: xetune opt %s --pass distribute-to-subgroups --split-input-file | filecheck %s
// Round robin: 4 sub-groups own two blocks of rows each. Loads, stores and prefetches keep hints and instruction blocks.
#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32], inst_data = [8, 16]>
gpu.module @m {
  gpu.func @k(%A: memref<64x96xf16>, %m: index) kernel {
    %t = xegpu.create_nd_tdesc %A : memref<64x96xf16> -> !xegpu.tensor_desc<64x32xf16>
    xegpu.prefetch_nd %t[%m, 32] <{l1_hint = #xegpu.cache_hint<cached>, layout = #l}> : !xegpu.tensor_desc<64x32xf16>
    %v = xegpu.load_nd %t[%m, 0] <{layout = #l}> {padding = 1.0 : f16} : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
    gpu.return
  }
}
// CHECK:      gpu.func @k(%A: memref<64x96xf16>, %m: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
// CHECK-NEXT:   %subgroup = gpu.subgroup_id : index
// CHECK-NEXT:   %c8 = arith.constant 8 : index
// CHECK-NEXT:   %0 = arith.muli %subgroup, %c8 : index
// CHECK-NEXT:   %c32 = arith.constant 32 : index
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %A : memref<64x96xf16> -> !xegpu.tensor_desc<8x32xf16>
// CHECK-NEXT:   %1 = arith.addi %m, %0 : index
// CHECK-NEXT:   %2 = arith.addi %0, %c32 : index
// CHECK-NEXT:   %3 = arith.addi %m, %2 : index
// CHECK-NEXT:   xegpu.prefetch_nd %t[%1, 32] <{l1_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<inst_data = [8, 16]>}> : !xegpu.tensor_desc<8x32xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %t[%3, 32] <{l1_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<inst_data = [8, 16]>}> : !xegpu.tensor_desc<8x32xf16>
// CHECK-NEXT:   %4 = arith.addi %m, %0 : index
// CHECK-NEXT:   %5 = arith.addi %0, %c32 : index
// CHECK-NEXT:   %6 = arith.addi %m, %5 : index
// CHECK-NEXT:   %v = xegpu.load_nd %t[%4, 0] <{layout = #xegpu.layout<inst_data = [8, 16]>}> {padding = 1.000000e+00 : f16} : !xegpu.tensor_desc<8x32xf16> -> vector<8x32xf16>
// CHECK-NEXT:   %v_1 = xegpu.load_nd %t[%6, 0] <{layout = #xegpu.layout<inst_data = [8, 16]>}> {padding = 1.000000e+00 : f16} : !xegpu.tensor_desc<8x32xf16> -> vector<8x32xf16>
// CHECK-NEXT:   gpu.return
// CHECK-NEXT: }

// -----

// Wrapping around: columns are shared by pairs, so the first of each pair stores. `order` = [0, 1]: rows change fastest.
#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [8, 32], order = [0, 1]>
gpu.module @m {
  gpu.func @k(%A: memref<16x32xf32>) kernel {
    %z = arith.constant dense<1.0> : vector<16x32xf32>
    %t = xegpu.create_nd_tdesc %A : memref<16x32xf32> -> !xegpu.tensor_desc<16x32xf32>
    xegpu.store_nd %z, %t[0, 0] <{layout = #l}> : vector<16x32xf32>, !xegpu.tensor_desc<16x32xf32>
    gpu.return
  }
}
// CHECK:        %c2 = arith.constant 2 : index
// CHECK-NEXT:   %0 = arith.remui %subgroup, %c2 : index
// CHECK-NEXT:   %c8 = arith.constant 8 : index
// CHECK-NEXT:   %1 = arith.muli %0, %c8 : index
// CHECK-NEXT:   %z = arith.constant dense<1.000000e+00> : vector<8x32xf32>
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %A : memref<16x32xf32> -> !xegpu.tensor_desc<8x32xf32>
// CHECK-NEXT:   %2 = arith.cmpi eq, %subgroup, %0 : index
// CHECK-NEXT:   scf.if %2 {
// CHECK-NEXT:     xegpu.store_nd %z, %t[%1, 0] : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   gpu.return
// CHECK-NEXT: }

// -----

// In a loop, the buffer of an exchange is free only when all have read what the previous iteration put there.
#a = #xegpu.layout<sg_layout = [2, 1], sg_data = [8, 32]>
#b = #xegpu.layout<sg_layout = [1, 2], sg_data = [16, 16]>
gpu.module @m {
  gpu.func @k(%A: memref<16x32xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = xegpu.create_nd_tdesc %A : memref<16x32xf32> -> !xegpu.tensor_desc<16x32xf32>
    scf.for %i = %c0 to %n step %c1 {
      %v = xegpu.load_nd %t[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32xf32> -> vector<16x32xf32>
      %w = xegpu.convert_layout %v <{input_layout = #a, target_layout = #b}> : vector<16x32xf32>
      xegpu.store_nd %w, %t[0, 0] <{layout = #b}> : vector<16x32xf32>, !xegpu.tensor_desc<16x32xf32>
    }
    gpu.return
  }
}
// CHECK:        %exchange = memref.alloca() : memref<2048xi8, 3 : i64>
// CHECK:        scf.for
// CHECK-NEXT:     %v = xegpu.load_nd
// CHECK-NEXT:     gpu.barrier
// CHECK-NEXT:     [[DESC:%.*]] = xegpu.create_mem_desc %exchange : memref<2048xi8, 3 : i64> -> !xegpu.mem_desc<16x32xf32>
// CHECK-NEXT:     xegpu.store_matrix %v, [[DESC]][%0, 0] : vector<8x32xf32>, !xegpu.mem_desc<16x32xf32>
// CHECK-NEXT:     gpu.barrier
// CHECK-NEXT:     %w = xegpu.load_matrix [[DESC]][0, %1] : !xegpu.mem_desc<16x32xf32>, index -> vector<16x16xf32>
// CHECK-NEXT:     xegpu.store_nd %w, %t_1[0, %1] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
// CHECK-NEXT:   }

// -----

// Without layouts, a kernel is at sub-group level already.
gpu.module @m {
  gpu.func @k(%A: memref<16x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %A : memref<16x32xf32> -> !xegpu.tensor_desc<16x32xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<16x32xf32> -> vector<16x32xf32>
    gpu.return
  }
}
// CHECK:      gpu.func @k(%A: memref<16x32xf32>) kernel {
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %A : memref<16x32xf32> -> !xegpu.tensor_desc<16x32xf32>
// CHECK-NEXT:   %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<16x32xf32> -> vector<16x32xf32>
// CHECK-NEXT:   gpu.return
// CHECK-NEXT: }
