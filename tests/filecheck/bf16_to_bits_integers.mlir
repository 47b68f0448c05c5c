// RUN: xetune opt %s --pass bf16-to-bits{instructions=false} | filecheck %s
// Without instructions that convert, numbers are rounded to nearest even and widened by integer operations.
gpu.module @kernels {
  gpu.func @converts(%x: f32) kernel {
    %a = arith.truncf %x : f32 to bf16
    %b = arith.extf %a : bf16 to f32
    gpu.return
  }
}

// CHECK:      builtin.module {
// CHECK-NEXT:   gpu.module @kernels {
// CHECK-NEXT:     gpu.func @converts(%x: f32) kernel {
// CHECK-NEXT:       %0 = arith.bitcast %x : f32 to i32
// CHECK-NEXT:       %1 = arith.constant 16 : i32
// CHECK-NEXT:       %2 = arith.shrui %0, %1 : i32
// CHECK-NEXT:       %3 = arith.constant 1 : i32
// CHECK-NEXT:       %4 = arith.andi %2, %3 : i32
// CHECK-NEXT:       %5 = arith.constant 32767 : i32
// CHECK-NEXT:       %6 = arith.addi %4, %5 : i32
// CHECK-NEXT:       %7 = arith.addi %0, %6 : i32
// CHECK-NEXT:       %8 = arith.constant 16 : i32
// CHECK-NEXT:       %9 = arith.shrui %7, %8 : i32
// CHECK-NEXT:       %10 = arith.constant 2147483647 : i32
// CHECK-NEXT:       %11 = arith.andi %0, %10 : i32
// CHECK-NEXT:       %12 = arith.constant 2139095040 : i32
// CHECK-NEXT:       %13 = arith.cmpi ugt, %11, %12 : i32
// CHECK-NEXT:       %14 = arith.constant 64 : i32
// CHECK-NEXT:       %15 = arith.ori %2, %14 : i32
// CHECK-NEXT:       %16 = arith.select %13, %15, %9 : i32
// CHECK-NEXT:       %a = arith.trunci %16 : i32 to i16
// CHECK-NEXT:       %17 = arith.bitcast %a : i16 to i16
// CHECK-NEXT:       %18 = arith.extui %17 : i16 to i32
// CHECK-NEXT:       %19 = arith.constant 16 : i32
// CHECK-NEXT:       %20 = arith.shli %18, %19 : i32
// CHECK-NEXT:       %b = arith.bitcast %20 : i32 to f32
// CHECK-NEXT:       gpu.return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
