// RUN: xetune opt %s --pass lower-to-lanes --split-input-file | filecheck %s
// A matrix in local memory: its buffer is a part of the kernel's global, and what a lane takes is contiguous.
gpu.module @kernels {
  gpu.func @exchange(%A: memref<8x32xf16>, %B: memref<8x32xf16>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %ad = xegpu.create_nd_tdesc %A : memref<8x32xf16> -> !xegpu.tensor_desc<8x16xf16>
    %a = xegpu.load_nd %ad[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %m = memref.alloca() : memref<8x32xf16, 3>
    %md = xegpu.create_mem_desc %m : memref<8x32xf16, 3> -> !xegpu.mem_desc<8x32xf16>
    xegpu.store_matrix %a, %md[0, 16] : vector<8x16xf16>, !xegpu.mem_desc<8x32xf16>
    gpu.barrier
    %b = xegpu.load_matrix %md[0, 16] : !xegpu.mem_desc<8x32xf16> -> vector<8x16xf16>
    %bd = xegpu.create_nd_tdesc %B : memref<8x32xf16> -> !xegpu.tensor_desc<8x16xf16>
    xegpu.store_nd %b, %bd[0, 16] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     llvm.mlir.global internal @exchange_local() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<512 x i8>
// CHECK-NEXT:     gpu.func @exchange(%A: memref<8x32xf16>, %B: memref<8x32xf16>) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = [{what = "base address", terms = {"0.pointer.0" = 1 : i64}, multiple = 64 : i64}, {what = "base address", terms = {"1.pointer.0" = 1 : i64}, multiple = 64 : i64}]} {
// CHECK-NEXT:       %0 = arith.constant 64 : i32
// CHECK-NEXT:       %1 = arith.constant 8 : i32
// CHECK-NEXT:       %2 = arith.constant 0 : i32
// CHECK-NEXT:       %3 = llvm.mlir.addressof @exchange_local : !llvm.ptr<3>
// CHECK-NEXT:       %4 = llvm.getelementptr %3[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK-NEXT:       %5 = gpu.lane_id
// CHECK-NEXT:       %6 = arith.index_cast %5 : index to i32
// CHECK-NEXT:       %7 = arith.muli %6, %1 : i32
// CHECK-NEXT:       %8 = arith.index_cast %7 : i32 to index
// CHECK-NEXT:       %9 = arith.constant 128 : index
// CHECK-NEXT:       %10 = arith.constant 16 : i32
// CHECK-NEXT:       %11 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<8x32xf16>) -> index
// CHECK-NEXT:       %12 = arith.index_cast %11 : index to i64
// CHECK-NEXT:       %13 = llvm.inttoptr %12 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %14 = "xevm.blockload2d"(%13, %0, %1, %0, %2, %2) <{elem_size_in_bits = 16 : i32, tile_width = 16 : i32, tile_height = 8 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi16>
// CHECK-NEXT:       %15 = arith.bitcast %14 : vector<8xi16> to vector<8xf16>
// CHECK-NEXT:       %16 = arith.addi %8, %9 : index
// CHECK-NEXT:       %17 = arith.index_cast %16 : index to i64
// CHECK-NEXT:       %18 = llvm.getelementptr %4[%17] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f16
// CHECK-NEXT:       llvm.store %15, %18 {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<3>
// CHECK-NEXT:       gpu.barrier
// CHECK-NEXT:       %19 = llvm.load %18 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xf16>
// CHECK-NEXT:       %20 = "memref.extract_aligned_pointer_as_index"(%B) : (memref<8x32xf16>) -> index
// CHECK-NEXT:       %21 = arith.index_cast %20 : index to i64
// CHECK-NEXT:       %22 = llvm.inttoptr %21 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %23 = arith.bitcast %19 : vector<8xf16> to vector<8xi16>
// CHECK-NEXT:       "xevm.blockstore2d"(%22, %0, %1, %0, %10, %2, %23) <{elem_size_in_bits = 16 : i32, tile_width = 16 : i32, tile_height = 8 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<8xi16>) -> ()
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// An atomic update runs in the lanes that the mask lets.
gpu.module @kernels {
  gpu.func @update(%A: memref<64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %mask = vector.create_mask %n : vector<16xi1>
    %at = vector.step : vector<16xindex>
    %one = arith.constant dense<1.0> : vector<16xf32>
    %d = xegpu.create_tdesc %A, %at : memref<64xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
    %old = xegpu.atomic_rmw addf %d, %mask, %one : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     gpu.func @update(%A: memref<64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = []} {
// CHECK-NEXT:       %0 = gpu.lane_id
// CHECK-NEXT:       %1 = arith.index_cast %0 : index to i32
// CHECK-NEXT:       %2 = arith.index_cast %1 : i32 to index
// CHECK-NEXT:       %3 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       %4 = arith.cmpi slt, %2, %n : index
// CHECK-NEXT:       %5 = arith.index_cast %1 : i32 to index
// CHECK-NEXT:       %6 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<64xf32>) -> index
// CHECK-NEXT:       %7 = arith.index_cast %6 : index to i64
// CHECK-NEXT:       %8 = llvm.inttoptr %7 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       scf.if %4 {
// CHECK-NEXT:         %9 = arith.index_cast %5 : index to i64
// CHECK-NEXT:         %10 = llvm.getelementptr %8[%9] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK-NEXT:         %11 = "llvm.atomicrmw"(%10, %3) <{bin_op = 11 : i64, ordering = 2 : i64, syncscope = "device"}> : (!llvm.ptr<1>, f32) -> f32
// CHECK-NEXT:       }
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
