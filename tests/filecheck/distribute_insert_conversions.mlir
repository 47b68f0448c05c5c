// RUN: xetune opt %s --pass insert-layout-conversions --split-input-file | filecheck %s
// What is loaded by one layout and stored by another is converted; a constant is made again instead.
#a = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 16]>
#b = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 32]>
gpu.module @m {
  gpu.func @k(%A: memref<64x32xf32>, %B: memref<64x32xf32>) kernel {
    %one = arith.constant dense<1.0> : vector<64x32xf32>
    %a = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
    %v = xegpu.load_nd %a[0, 0] <{layout = #a}> : !xegpu.tensor_desc<64x32xf32> -> vector<64x32xf32>
    %w = arith.addf %v, %one : vector<64x32xf32>
    xegpu.store_nd %w, %a[0, 0] <{layout = #b}> : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>
    xegpu.store_nd %one, %a[0, 0] <{layout = #b}> : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>
    gpu.return
  }
}
// CHECK:        [[ONE:%.*]] = arith.constant dense<1.000000e+00> : vector<64x32xf32>
// CHECK-NEXT:   [[AGAIN:%.*]] = arith.constant dense<1.000000e+00> : vector<64x32xf32>
// CHECK-NEXT:   %a = xegpu.create_nd_tdesc %A
// CHECK-NEXT:   %v = xegpu.load_nd %a[0, 0]
// CHECK-NEXT:   %w = arith.addf %v, [[AGAIN]] : vector<64x32xf32>
// CHECK-NEXT:   %w_1 = xegpu.convert_layout %w <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 16]>, target_layout = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 32]>}> : vector<64x32xf32>
// CHECK-NEXT:   xegpu.store_nd %w_1, %a[0, 0]
// CHECK-NEXT:   xegpu.store_nd [[ONE]], %a[0, 0]
// CHECK-NEXT:   gpu.return

// -----

// A reduction is where its source is; what is converted is its result, a slice of the source's layout.
#a = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 16]>
#b = #xegpu.layout<sg_layout = [8], sg_data = [8]>
gpu.module @m {
  gpu.func @k(%A: memref<64x32xf32>, %B: memref<64xf32>, %z: f32) kernel {
    %zero = vector.broadcast %z : f32 to vector<64xf32>
    %a = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
    %b = xegpu.create_nd_tdesc %B : memref<64xf32> -> !xegpu.tensor_desc<64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    %v = xegpu.load_nd %a[0, 0] <{layout = #a}> : !xegpu.tensor_desc<64x32xf32> -> vector<64x32xf32>
    %s = vector.multi_reduction <add>, %v, %zero [1] : vector<64x32xf32> to vector<64xf32>
    xegpu.store_nd %s, %b[0] <{layout = #b}> : vector<64xf32>, !xegpu.tensor_desc<64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    gpu.return
  }
}
// CHECK:        %s = vector.multi_reduction <add>, %v, %zero [1] : vector<64x32xf32> to vector<64xf32>
// CHECK-NEXT:   %s_1 = xegpu.convert_layout %s <{input_layout = #xegpu.slice<#xegpu.layout<sg_layout = [4, 2], sg_data = [16, 1]>, dims = [1]>, target_layout = #xegpu.layout<sg_layout = [8], sg_data = [8]>}> : vector<64xf32>
// CHECK-NEXT:   xegpu.store_nd %s_1, %b[0]
