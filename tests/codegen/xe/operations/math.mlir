// The math dialect, element by element. Six sub-groups.
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>

// -----
// math.$OP: f32
// OP = absf ceil floor round roundeven trunc
// floats -9 9
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = math.$OP %a : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// math.$OP: f32
// OP = atan asinh cbrt cos cosh erf erfc exp exp2 expm1 sin sinh tan tanh
// tolerance 1e-5
// floats -1.5 1.5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = math.$OP %a : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// math.$OP: f32
// OP = acos asin atanh
// tolerance 1e-5
// floats -0.9 0.9
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = math.$OP %a : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// math.$OP: f32
// OP = acosh log log10 log1p log2 rsqrt sqrt
// tolerance 1e-5
// floats 1.1 9
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = math.$OP %a : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// math.$OP: f16
// OP = absf exp exp2 log rsqrt sqrt tanh erf sin cos floor
// tolerance 0.004
// floats 0.1 2
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  %r = math.$OP %a : vector<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// math.$OP: bf16
// OP = absf exp exp2 log rsqrt sqrt tanh erf sin cos floor
// tolerance 0.03
// floats 0.1 2
gpu.func @k(%A: memref<16x48xbf16>, %R: memref<16x48xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xbf16> -> vector<16x48xbf16>
  %r = math.$OP %a : vector<16x48xbf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xbf16>, !xegpu.tensor_desc<16x48xbf16>
  gpu.return
}
// -----
// math.$OP: f32
// OP = atan2 copysign
// tolerance 1e-5
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = math.$OP %a, %b : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// math.powf: $TYPE
// TYPE = f32 f16
// tolerance 0.004
// floats 0.2 2
gpu.func @k(%A: memref<16x48x$TYPE>, %B: memref<16x48x$TYPE>, %R: memref<16x48x$TYPE>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %r = math.powf %a, %b : vector<16x48x$TYPE>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48x$TYPE>, !xegpu.tensor_desc<16x48x$TYPE>
  gpu.return
}
// -----
// math.fma: $TYPE
// TYPE = f32 f16 bf16
// tolerance 0.02
gpu.func @k(%A: memref<16x48x$TYPE>, %B: memref<16x48x$TYPE>, %R: memref<16x48x$TYPE>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %r = math.fma %a, %b, %a : vector<16x48x$TYPE>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48x$TYPE>, !xegpu.tensor_desc<16x48x$TYPE>
  gpu.return
}
// -----
// math.fpowi: f32, i32
// tolerance 1e-4
// integers -3 4
// floats 0.5 2
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xi32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %r = math.fpowi %a, %b : vector<16x48xf32>, vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// math.ipowi: i32
// integers 1 6
gpu.func @k(%A: memref<16x48xi32>, %B: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %r = math.ipowi %a, %b : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// math.$OP: i32
// OP = absi ctlz cttz ctpop
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %r = math.$OP %a : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
