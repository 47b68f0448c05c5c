// RUN: xetune opt %s --pass lower-to-lanes --split-input-file | filecheck %s
// The sum of a row: registers of a lane, then lanes with each other; all lanes have it, and spread it for nothing.
gpu.module @kernels {
  gpu.func @rows(%A: memref<2x32xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %d = xegpu.create_nd_tdesc %A : memref<2x32xf32> -> !xegpu.tensor_desc<2x32xf32>
    %v = xegpu.load_nd %d[0, 0] : !xegpu.tensor_desc<2x32xf32> -> vector<2x32xf32>
    %zero = arith.constant dense<0.0> : vector<2xf32>
    %sums = vector.multi_reduction <add>, %v, %zero [1] : vector<2x32xf32> to vector<2xf32>
    %column = vector.shape_cast %sums : vector<2xf32> to vector<2x1xf32>
    %all = vector.broadcast %column : vector<2x1xf32> to vector<2x32xf32>
    xegpu.store_nd %all, %d[0, 0] : vector<2x32xf32>, !xegpu.tensor_desc<2x32xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     "llvm.func"() <{sym_name = "_Z27intel_sub_group_shuffle_xorDv2_fj", function_type = !llvm.func<vector<2xf32> (vector<2xf32>, i32)>, linkage = #llvm.linkage<"external">, CConv = #llvm.cconv<spir_funccc>, convergent, no_unwind, will_return, memory_effects = #llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>}> ({
// CHECK-NEXT:     }) : () -> ()
// CHECK-NEXT:     gpu.func @rows(%A: memref<2x32xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = [{what = "base address", terms = {"0.pointer.0" = 1 : i64}, multiple = 64 : i64}]} {
// CHECK-NEXT:       %0 = arith.constant 128 : i32
// CHECK-NEXT:       %1 = arith.constant 2 : i32
// CHECK-NEXT:       %2 = arith.constant 0 : i32
// CHECK-NEXT:       %3 = arith.constant 16 : i32
// CHECK-NEXT:       %4 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %5 = arith.constant 1 : i32
// CHECK-NEXT:       %6 = arith.constant 4 : i32
// CHECK-NEXT:       %7 = arith.constant 8 : i32
// CHECK-NEXT:       %8 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<2x32xf32>) -> index
// CHECK-NEXT:       %9 = arith.index_cast %8 : index to i64
// CHECK-NEXT:       %10 = llvm.inttoptr %9 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %11 = "xevm.blockload2d"(%10, %0, %1, %0, %2, %2) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 2 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<2xi32>
// CHECK-NEXT:       %12 = "xevm.blockload2d"(%10, %0, %1, %0, %3, %2) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 2 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<2xi32>
// CHECK-NEXT:       %13 = arith.bitcast %11 : vector<2xi32> to vector<2xf32>
// CHECK-NEXT:       %14 = arith.bitcast %12 : vector<2xi32> to vector<2xf32>
// CHECK-NEXT:       %15 = arith.addf %13, %14 : vector<2xf32>
// CHECK-NEXT:       %16 = "llvm.call"(%15, %5) <{callee = @_Z27intel_sub_group_shuffle_xorDv2_fj, operandSegmentSizes = array<i32: 2, 0>, CConv = #llvm.cconv<spir_funccc>, fastmathFlags = #llvm.fastmath<none>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>}> : (vector<2xf32>, i32) -> vector<2xf32>
// CHECK-NEXT:       %17 = arith.addf %15, %16 : vector<2xf32>
// CHECK-NEXT:       %18 = "llvm.call"(%17, %1) <{callee = @_Z27intel_sub_group_shuffle_xorDv2_fj, operandSegmentSizes = array<i32: 2, 0>, CConv = #llvm.cconv<spir_funccc>, fastmathFlags = #llvm.fastmath<none>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>}> : (vector<2xf32>, i32) -> vector<2xf32>
// CHECK-NEXT:       %19 = arith.addf %17, %18 : vector<2xf32>
// CHECK-NEXT:       %20 = "llvm.call"(%19, %6) <{callee = @_Z27intel_sub_group_shuffle_xorDv2_fj, operandSegmentSizes = array<i32: 2, 0>, CConv = #llvm.cconv<spir_funccc>, fastmathFlags = #llvm.fastmath<none>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>}> : (vector<2xf32>, i32) -> vector<2xf32>
// CHECK-NEXT:       %21 = arith.addf %19, %20 : vector<2xf32>
// CHECK-NEXT:       %22 = "llvm.call"(%21, %7) <{callee = @_Z27intel_sub_group_shuffle_xorDv2_fj, operandSegmentSizes = array<i32: 2, 0>, CConv = #llvm.cconv<spir_funccc>, fastmathFlags = #llvm.fastmath<none>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = array<i32>}> : (vector<2xf32>, i32) -> vector<2xf32>
// CHECK-NEXT:       %23 = arith.addf %21, %22 : vector<2xf32>
// CHECK-NEXT:       %24 = vector.broadcast %4 : f32 to vector<2xf32>
// CHECK-NEXT:       %25 = arith.addf %23, %24 : vector<2xf32>
// CHECK-NEXT:       %26 = arith.bitcast %25 : vector<2xf32> to vector<2xi32>
// CHECK-NEXT:       "xevm.blockstore2d"(%10, %0, %1, %0, %2, %2, %26) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 2 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<2xi32>) -> ()
// CHECK-NEXT:       "xevm.blockstore2d"(%10, %0, %1, %0, %3, %2, %26) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 2 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<2xi32>) -> ()
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// A lane takes from others only what it lacks: the last two columns of the first group are in other lanes now.
gpu.module @kernels {
  gpu.func @shift(%A: memref<1x32xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %d = xegpu.create_nd_tdesc %A : memref<1x32xf32> -> !xegpu.tensor_desc<1x32xf32>
    %v = xegpu.load_nd %d[0, 0] : !xegpu.tensor_desc<1x32xf32> -> vector<1x32xf32>
    %s = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [1, 16], strides = [1, 1]} : vector<1x32xf32> to vector<1x16xf32>
    %w = vector.insert_strided_slice %s, %v {offsets = [0, 16], strides = [1, 1]} : vector<1x16xf32> into vector<1x32xf32>
    xegpu.store_nd %w, %d[0, 0] : vector<1x32xf32>, !xegpu.tensor_desc<1x32xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     gpu.func @shift(%A: memref<1x32xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = [{what = "base address", terms = {"0.pointer.0" = 1 : i64}, multiple = 64 : i64}]} {
// CHECK-NEXT:       %0 = arith.constant 128 : i32
// CHECK-NEXT:       %1 = arith.constant 1 : i32
// CHECK-NEXT:       %2 = arith.constant 0 : i32
// CHECK-NEXT:       %3 = arith.constant 16 : i32
// CHECK-NEXT:       %4 = gpu.lane_id
// CHECK-NEXT:       %5 = arith.index_cast %4 : index to i32
// CHECK-NEXT:       %6 = arith.extui %5 : i32 to i64
// CHECK-NEXT:       %7 = arith.constant 4 : i64
// CHECK-NEXT:       %8 = arith.muli %6, %7 : i64
// CHECK-NEXT:       %9 = arith.constant 1224658842671273010 : i64
// CHECK-NEXT:       %10 = arith.shrui %9, %8 : i64
// CHECK-NEXT:       %11 = arith.trunci %10 : i64 to i32
// CHECK-NEXT:       %12 = arith.constant 15 : i32
// CHECK-NEXT:       %13 = arith.andi %11, %12 : i32
// CHECK-NEXT:       %14 = arith.constant 14 : i32
// CHECK-NEXT:       %15 = arith.cmpi ult, %5, %14 : i32
// CHECK-NEXT:       %16 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<1x32xf32>) -> index
// CHECK-NEXT:       %17 = arith.index_cast %16 : index to i64
// CHECK-NEXT:       %18 = llvm.inttoptr %17 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %19 = "xevm.blockload2d"(%18, %0, %1, %0, %2, %2) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 1 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<1xi32>
// CHECK-NEXT:       %20 = "xevm.blockload2d"(%18, %0, %1, %0, %3, %2) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 1 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<1xi32>
// CHECK-NEXT:       %21 = vector.extract %19[0] : i32 from vector<1xi32>
// CHECK-NEXT:       %22 = arith.bitcast %21 : i32 to f32
// CHECK-NEXT:       %23 = arith.bitcast %22 : f32 to i32
// CHECK-NEXT:       %24 = vector.broadcast %23 : i32 to vector<1xi32>
// CHECK-NEXT:       "xevm.blockstore2d"(%18, %0, %1, %0, %2, %2, %24) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 1 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<1xi32>) -> ()
// CHECK-NEXT:       %25, %26 = gpu.shuffle idx %22, %13, %3 : f32
// CHECK-NEXT:       %27 = vector.extract %20[0] : i32 from vector<1xi32>
// CHECK-NEXT:       %28 = arith.bitcast %27 : i32 to f32
// CHECK-NEXT:       %29, %30 = gpu.shuffle xor %28, %14, %3 : f32
// CHECK-NEXT:       %31 = arith.select %15, %25, %29 : f32
// CHECK-NEXT:       %32 = arith.bitcast %31 : f32 to i32
// CHECK-NEXT:       %33 = vector.broadcast %32 : i32 to vector<1xi32>
// CHECK-NEXT:       "xevm.blockstore2d"(%18, %0, %1, %0, %3, %2, %33) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 1 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<1xi32>) -> ()
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// A loop carries the chunks of a vector and the place of a descriptor.
gpu.module @kernels {
  gpu.func @carried(%A: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %first = xegpu.create_nd_tdesc %A[0, 0] : memref<64x16xf32> -> !xegpu.tensor_desc<4x16xf32>
    %zero = arith.constant dense<0.0> : vector<4x16xf32>
    %r:2 = scf.for %i = %c0 to %c64 step %c4 iter_args(%d = %first, %sum = %zero) -> (!xegpu.tensor_desc<4x16xf32>, vector<4x16xf32>) {
      %v = xegpu.load_nd %d : !xegpu.tensor_desc<4x16xf32> -> vector<4x16xf32>
      %s = arith.addf %sum, %v : vector<4x16xf32>
      %next = xegpu.update_nd_offset %d, [4, 0] : !xegpu.tensor_desc<4x16xf32>
      scf.yield %next, %s : !xegpu.tensor_desc<4x16xf32>, vector<4x16xf32>
    }
    xegpu.store_nd %r#1, %first : vector<4x16xf32>, !xegpu.tensor_desc<4x16xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     gpu.func @carried(%A: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>, xetune.block_io_assumed = [{what = "base address", terms = {"0.pointer.0" = 1 : i64}, multiple = 64 : i64}]} {
// CHECK-NEXT:       %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %1 = arith.constant 0 : i32
// CHECK-NEXT:       %2 = arith.constant 64 : i32
// CHECK-NEXT:       %3 = arith.constant 4 : i32
// CHECK-NEXT:       %4 = arith.constant 0 : index
// CHECK-NEXT:       %5 = arith.constant 4 : index
// CHECK-NEXT:       %c0 = arith.constant 0 : index
// CHECK-NEXT:       %c4 = arith.constant 4 : index
// CHECK-NEXT:       %c64 = arith.constant 64 : index
// CHECK-NEXT:       %6 = "memref.extract_aligned_pointer_as_index"(%A) : (memref<64x16xf32>) -> index
// CHECK-NEXT:       %7 = arith.index_cast %6 : index to i64
// CHECK-NEXT:       %8 = llvm.inttoptr %7 : i64 to !llvm.ptr<1>
// CHECK-NEXT:       %9 = vector.broadcast %0 : f32 to vector<4xf32>
// CHECK-NEXT:       %10, %11, %12 = scf.for %i = %1 to %2 step %3 iter_args(%13 = %4, %14 = %4, %15 = %9) -> (index, index, vector<4xf32>) : i32 {
// CHECK-NEXT:         %i_1 = arith.index_cast %i : i32 to index
// CHECK-NEXT:         %16 = arith.index_cast %14 : index to i32
// CHECK-NEXT:         %17 = arith.index_cast %13 : index to i32
// CHECK-NEXT:         %18 = "xevm.blockload2d"(%8, %2, %2, %2, %16, %17) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 4 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<4xi32>
// CHECK-NEXT:         %19 = arith.bitcast %18 : vector<4xi32> to vector<4xf32>
// CHECK-NEXT:         %20 = arith.addf %15, %19 : vector<4xf32>
// CHECK-NEXT:         %21 = arith.addi %13, %5 : index
// CHECK-NEXT:         scf.yield %21, %14, %20 : index, index, vector<4xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %22 = arith.bitcast %12 : vector<4xf32> to vector<4xi32>
// CHECK-NEXT:       "xevm.blockstore2d"(%8, %2, %2, %2, %1, %1, %22) <{elem_size_in_bits = 32 : i32, tile_width = 16 : i32, tile_height = 4 : i32}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<4xi32>) -> ()
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
