// RUN: xetune opt %s --pass lower-to-lanes --split-input-file | filecheck %s
// Rows of lanes: a message for 16 columns of f32, with a hint; what is stored goes by 8 rows.
gpu.module @kernels {
  gpu.func @copy(%A: memref<64x96xf32>, %x: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c8 = arith.constant 8 : index
    %d = xegpu.create_nd_tdesc %A : memref<64x96xf32> -> !xegpu.tensor_desc<12x16xf32>
    %v = xegpu.load_nd %d[%c8, %x] <{l1_hint = #xegpu.cache_hint<streaming>, l3_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<12x16xf32> -> vector<12x16xf32>
    xegpu.store_nd %v, %d[%x, 0] : vector<12x16xf32>, !xegpu.tensor_desc<12x16xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     gpu.func @copy(%A: memref<64x96xf32>, %x: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = [{what = "base address", terms = {"0.pointer.0" = 1 : i64}, multiple = 64 : i64}]} {
// CHECK-NEXT:       %0 = arith.constant 384 : i32
// CHECK-NEXT:       %1 = arith.constant 64 : i32
// CHECK-NEXT:       %2 = arith.constant 8 : i32
// CHECK-NEXT:       %3 = arith.constant 16 : i32
// CHECK-NEXT:       %4 = arith.constant 0 : i32
// CHECK-NEXT:       %c8 = arith.constant 8 : index
// CHECK-NEXT:       %5 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<64x96xf32>) -> index
// CHECK-NEXT:       %6 = arith.index_cast %5 : index to i64
// CHECK-NEXT:       %7 = llvm.inttoptr %6 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %8 = arith.index_cast %x : index to i32
// CHECK-NEXT:       %9 = "xevm.blockload2d"(%7, %0, %1, %0, %8, %2) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 8 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false, cache_control = #xevm.load_cache_control<L1s_L2uc_L3c>}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi32>
// CHECK-NEXT:       %10 = "xevm.blockload2d"(%7, %0, %1, %0, %8, %3) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 4 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false, cache_control = #xevm.load_cache_control<L1s_L2uc_L3c>}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<4xi32>
// CHECK-NEXT:       %11 = arith.bitcast %9 : vector<8xi32> to vector<8xf32>
// CHECK-NEXT:       %12 = arith.bitcast %11 : vector<8xf32> to vector<8xi32>
// CHECK-NEXT:       "xevm.blockstore2d"(%7, %0, %1, %0, %4, %8, %12) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 8 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<8xi32>) -> ()
// CHECK-NEXT:       %13 = arith.addi %8, %2 : i32
// CHECK-NEXT:       %14 = arith.bitcast %10 : vector<4xi32> to vector<4xf32>
// CHECK-NEXT:       %15 = arith.bitcast %14 : vector<4xf32> to vector<4xi32>
// CHECK-NEXT:       "xevm.blockstore2d"(%7, %0, %1, %0, %4, %13, %15) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 4 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<4xi32>) -> ()
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// A product: A in rows of lanes, B packed into words, both as the instruction takes them.
gpu.module @kernels {
  gpu.func @product(%A: memref<8x32xf16>, %B: memref<16x48xf16>, %C: memref<8x48xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %at = xegpu.create_nd_tdesc %A : memref<8x32xf16> -> !xegpu.tensor_desc<8x16xf16>
    %bt = xegpu.create_nd_tdesc %B : memref<16x48xf16> -> !xegpu.tensor_desc<16x16xf16>
    %ct = xegpu.create_nd_tdesc %C : memref<8x48xf32> -> !xegpu.tensor_desc<8x16xf32>
    %a = xegpu.load_nd %at[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %b = xegpu.load_nd %bt[0, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
    %c = xegpu.load_nd %ct[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    %d = xegpu.dpas %a, %b, %c : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %d, %ct[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     gpu.func @product(%A: memref<8x32xf16>, %B: memref<16x48xf16>, %C: memref<8x48xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = [{what = "base address", terms = {"0.pointer.0" = 1 : i64}, multiple = 64 : i64}, {what = "base address", terms = {"1.pointer.0" = 1 : i64}, multiple = 64 : i64}, {what = "base address", terms = {"2.pointer.0" = 1 : i64}, multiple = 64 : i64}]} {
// CHECK-NEXT:       %0 = arith.constant 64 : i32
// CHECK-NEXT:       %1 = arith.constant 8 : i32
// CHECK-NEXT:       %2 = arith.constant 0 : i32
// CHECK-NEXT:       %3 = arith.constant 96 : i32
// CHECK-NEXT:       %4 = arith.constant 16 : i32
// CHECK-NEXT:       %5 = arith.constant 192 : i32
// CHECK-NEXT:       %6 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<8x32xf16>) -> index
// CHECK-NEXT:       %7 = arith.index_cast %6 : index to i64
// CHECK-NEXT:       %8 = llvm.inttoptr %7 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %9 = "memref.extract_aligned_pointer_as_index"(%B) : (memref<16x48xf16>) -> index
// CHECK-NEXT:       %10 = arith.index_cast %9 : index to i64
// CHECK-NEXT:       %11 = llvm.inttoptr %10 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %12 = "memref.extract_aligned_pointer_as_index"(%C) : (memref<8x48xf32>) -> index
// CHECK-NEXT:       %13 = arith.index_cast %12 : index to i64
// CHECK-NEXT:       %14 = llvm.inttoptr %13 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %15 = "xevm.blockload2d"(%8, %0, %1, %0, %2, %2) <{elem_size_in_bits = 16 : i32, tile_width = 16 : i32, tile_height = 8 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi16>
// CHECK-NEXT:       %16 = arith.bitcast %15 : vector<8xi16> to vector<8xf16>
// CHECK-NEXT:       %17 = "xevm.blockload2d"(%11, %3, %4, %3, %2, %2) <{elem_size_in_bits = 16 : i32, tile_width = 16 : i32, tile_height = 16 : i32, v_blocks = 1 : i32, transpose = false, pack_register = true}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi32>
// CHECK-NEXT:       %18 = vector.bitcast %17 : vector<8xi32> to vector<16xf16>
// CHECK-NEXT:       %19 = "xevm.blockload2d"(%14, %5, %1, %5, %2, %2) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 8 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi32>
// CHECK-NEXT:       %20 = arith.bitcast %19 : vector<8xi32> to vector<8xf32>
// CHECK-NEXT:       %21 = arith.bitcast %16 : vector<8xf16> to vector<8xi16>
// CHECK-NEXT:       %22 = vector.bitcast %18 : vector<16xf16> to vector<8xi32>
// CHECK-NEXT:       %23 = "xevm.mma"(%21, %22, %20) <{shape = #xevm.mma_shape<m = 8, n = 16, k = 16>, types = #xevm.mma_types<d = f32, a = f16, b = f16, c = f32>}> : (vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
// CHECK-NEXT:       %24 = arith.bitcast %23 : vector<8xf32> to vector<8xi32>
// CHECK-NEXT:       "xevm.blockstore2d"(%14, %5, %1, %5, %2, %2, %24) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 8 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<8xi32>) -> ()
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Rows of 40 bytes are too short for messages: lanes look whether they are inside.
gpu.module @kernels {
  gpu.func @narrow(%A: memref<6x10xf32>, %row: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %d = xegpu.create_nd_tdesc %A : memref<6x10xf32> -> !xegpu.tensor_desc<2x16xf32>
    %v = xegpu.load_nd %d[%row, 0] : !xegpu.tensor_desc<2x16xf32> -> vector<2x16xf32>
    xegpu.store_nd %v, %d[0, 0] : vector<2x16xf32>, !xegpu.tensor_desc<2x16xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     "llvm.func"() <{sym_name = "xetune.load.2.global_2xi64_2xf32", function_type = !llvm.func<vector<2xf32> (!llvm.ptr<1>, vector<2xi64>)>, linkage = #llvm.linkage<"external">, CConv = #llvm.cconv<spir_funccc>, no_unwind, will_return, memory_effects = #llvm.memory_effects<other = none, argMem = read, inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>}> ({
// CHECK-NEXT:     }) : () -> ()
// CHECK-NEXT:     "llvm.func"() <{sym_name = "xetune.store.3.2xf32_global_2xi64", function_type = !llvm.func<void (vector<2xf32>, !llvm.ptr<1>, vector<2xi64>)>, linkage = #llvm.linkage<"external">, CConv = #llvm.cconv<spir_funccc>, no_unwind, will_return, memory_effects = #llvm.memory_effects<other = none, argMem = write, inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>}> ({
// CHECK-NEXT:     }) : () -> ()
// CHECK-NEXT:     gpu.func @narrow(%A: memref<6x10xf32>, %row: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = []} {
// CHECK-NEXT:       %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %1 = gpu.lane_id
// CHECK-NEXT:       %2 = arith.index_cast %1 : index to i32
// CHECK-NEXT:       %3 = arith.index_cast %2 : i32 to index
// CHECK-NEXT:       %4 = arith.constant dense<[0, 1]> : vector<2xindex>
// CHECK-NEXT:       %5 = arith.constant 6 : index
// CHECK-NEXT:       %6 = arith.constant 10 : index
// CHECK-NEXT:       %7 = arith.constant dense<[0, 10]> : vector<2xindex>
// CHECK-NEXT:       %8 = arith.constant 0 : index
// CHECK-NEXT:       %9 = arith.constant dense<[0, 10]> : vector<2xi64>
// CHECK-NEXT:       %10 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<6x10xf32>) -> index
// CHECK-NEXT:       %11 = arith.index_cast %10 : index to i64
// CHECK-NEXT:       %12 = llvm.inttoptr %11 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %13 = vector.broadcast %row : index to vector<2xindex>
// CHECK-NEXT:       %14 = arith.addi %13, %4 : vector<2xindex>
// CHECK-NEXT:       %15 = vector.broadcast %5 : index to vector<2xindex>
// CHECK-NEXT:       %16 = arith.cmpi ult, %14, %15 : vector<2xindex>
// CHECK-NEXT:       %17 = arith.cmpi ult, %3, %6 : index
// CHECK-NEXT:       %18 = vector.broadcast %17 : i1 to vector<2xi1>
// CHECK-NEXT:       %19 = arith.andi %16, %18 : vector<2xi1>
// CHECK-NEXT:       %20 = arith.muli %row, %6 : index
// CHECK-NEXT:       %21 = arith.addi %20, %3 : index
// CHECK-NEXT:       %22 = vector.broadcast %21 : index to vector<2xindex>
// CHECK-NEXT:       %23 = arith.addi %22, %7 : vector<2xindex>
// CHECK-NEXT:       %24 = vector.broadcast %8 : index to vector<2xindex>
// CHECK-NEXT:       %25 = arith.select %19, %23, %24 : vector<2xi1>, vector<2xindex>
// CHECK-NEXT:       %26 = arith.index_cast %25 : vector<2xindex> to vector<2xi64>
// CHECK-NEXT:       %27 = "llvm.call"(%12, %26) <{callee = @xetune.load.2.global_2xi64_2xf32, operandSegmentSizes = array<i32: 2, 0>, CConv = #llvm.cconv<spir_funccc>, fastmathFlags = #llvm.fastmath<none>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>}> : (!llvm.ptr<1>, vector<2xi64>) -> vector<2xf32>
// CHECK-NEXT:       %28 = vector.broadcast %0 : f32 to vector<2xf32>
// CHECK-NEXT:       %29 = arith.select %19, %27, %28 : vector<2xi1>, vector<2xf32>
// CHECK-NEXT:       scf.if %17 {
// CHECK-NEXT:         %30 = arith.index_cast %3 : index to i64
// CHECK-NEXT:         %31 = llvm.getelementptr %12[%30] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK-NEXT:         "llvm.call"(%29, %31, %9) <{callee = @xetune.store.3.2xf32_global_2xi64, operandSegmentSizes = array<i32: 3, 0>, CConv = #llvm.cconv<spir_funccc>, fastmathFlags = #llvm.fastmath<none>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>}> : (vector<2xf32>, !llvm.ptr<1>, vector<2xi64>) -> ()
// CHECK-NEXT:       }
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
