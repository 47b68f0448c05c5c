// RUN: xetune opt %s --pass bf16-to-bits --split-input-file | filecheck %s
// What moves bf16 moves integers, a constant is its bits, and casts between the two disappear.
gpu.module @kernels {
  gpu.func @moves(%A: memref<16xbf16>, %on: i1) kernel {
    %c = arith.constant -1.5 : bf16
    %d = arith.constant dense<[1.0, 2.0]> : vector<2xbf16>
    %e = vector.extract %d[1] : bf16 from vector<2xbf16>
    %s = arith.select %on, %c, %e : bf16
    %p = "memref.extract_aligned_pointer_as_index"(%A) : (memref<16xbf16>) -> index
    %b = arith.bitcast %s : bf16 to i16
    %r = arith.addi %b, %b : i16
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     gpu.func @moves(%A: memref<16xi16>, %on: i1) kernel {
// CHECK-NEXT:       %c = arith.constant -16448 : i16
// CHECK-NEXT:       %d = arith.constant dense<[16256, 16384]> : vector<2xi16>
// CHECK-NEXT:       %e = vector.extract %d[1] : i16 from vector<2xi16>
// CHECK-NEXT:       %s = arith.select %on, %c, %e : i16
// CHECK-NEXT:       %p = memref.extract_aligned_pointer_as_index %A : memref<16xi16> -> index
// CHECK-NEXT:       %r = arith.addi %s, %s : i16
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Conversions are calls of Intel's built-in functions, each declared once.
gpu.module @kernels {
  gpu.func @converts(%x: f32, %y: vector<8xf32>) kernel {
    %a = arith.truncf %x : f32 to bf16
    %b = arith.truncf %y : vector<8xf32> to vector<8xbf16>
    %c = arith.truncf %y : vector<8xf32> to vector<8xbf16>
    %d = arith.extf %b : vector<8xbf16> to vector<8xf32>
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     "llvm.func"() <{sym_name = "_Z27__spirv_ConvertFToBF16INTELf", function_type = !llvm.func<i16 (f32)>
// CHECK-NEXT:     }) : () -> ()
// CHECK-NEXT:     "llvm.func"() <{sym_name = "_Z27__spirv_ConvertFToBF16INTELDv8_f", function_type = !llvm.func<vector<8xi16> (vector<8xf32>)>
// CHECK-NEXT:     }) : () -> ()
// CHECK-NEXT:     "llvm.func"() <{sym_name = "_Z27__spirv_ConvertBF16ToFINTELDv8_s", function_type = !llvm.func<vector<8xf32> (vector<8xi16>)>
// CHECK-NEXT:     }) : () -> ()
// CHECK-NEXT:     gpu.func @converts(%x: f32, %y: vector<8xf32>) kernel {
// CHECK-NEXT:       %a = "llvm.call"(%x) <{callee = @_Z27__spirv_ConvertFToBF16INTELf
// CHECK-NEXT:       %b = "llvm.call"(%y) <{callee = @_Z27__spirv_ConvertFToBF16INTELDv8_f
// CHECK-NEXT:       %c = "llvm.call"(%y) <{callee = @_Z27__spirv_ConvertFToBF16INTELDv8_f
// CHECK-NEXT:       %d = "llvm.call"(%b) <{callee = @_Z27__spirv_ConvertBF16ToFINTELDv8_s
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Arithmetic is that of f32, rounded after each operation; an integer of 16 bits stays one.
gpu.module @kernels {
  gpu.func @computes(%x: vector<4xbf16>, %n: vector<4xi16>) kernel {
    %y = arith.sitofp %n : vector<4xi16> to vector<4xbf16>
    %s = arith.addf %x, %y : vector<4xbf16>
    %m = arith.maximumf %s, %x : vector<4xbf16>
    %c = arith.cmpf olt, %m, %x : vector<4xbf16>
    gpu.return
  }
}

// CHECK:          gpu.func @computes(%x: vector<4xi16>, %n: vector<4xi16>) kernel {
// CHECK-NEXT:       %{{.*}} = arith.sitofp %n : vector<4xi16> to vector<4xf32>
// CHECK-NEXT:       %y = "llvm.call"(%{{.*}}) <{callee = @_Z27__spirv_ConvertFToBF16INTELDv4_f
// CHECK-NEXT:       %{{.*}} = "llvm.call"(%x) <{callee = @_Z27__spirv_ConvertBF16ToFINTELDv4_s
// CHECK-NEXT:       %{{.*}} = "llvm.call"(%y) <{callee = @_Z27__spirv_ConvertBF16ToFINTELDv4_s
// CHECK-NEXT:       %{{.*}} = arith.addf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NEXT:       %s = "llvm.call"(%{{.*}}) <{callee = @_Z27__spirv_ConvertFToBF16INTELDv4_f
// CHECK-NEXT:       %{{.*}} = "llvm.call"(%s) <{callee = @_Z27__spirv_ConvertBF16ToFINTELDv4_s
// CHECK-NEXT:       %{{.*}} = "llvm.call"(%x) <{callee = @_Z27__spirv_ConvertBF16ToFINTELDv4_s
// CHECK-NEXT:       %{{.*}} = arith.maximumf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NEXT:       %m = "llvm.call"(%{{.*}}) <{callee = @_Z27__spirv_ConvertFToBF16INTELDv4_f
// CHECK:            %c = arith.cmpf olt, %{{.*}}, %{{.*}} : vector<4xf32>
