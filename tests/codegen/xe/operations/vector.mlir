// The vector dialect, on what blocks of matrices give. Six sub-groups.
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>
#t = #xegpu.layout<sg_layout = [3, 2], sg_data = [16, 8]>
#wide = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 32]>
#half = #xegpu.layout<sg_layout = [2, 3], sg_data = [4, 16]>
#flat = #xegpu.layout<sg_layout = [2, 3], sg_data = [4, 32]>
#row = #xegpu.layout<sg_layout = [2, 3], sg_data = [1, 16]>
#column = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 1]>
#line = #xegpu.layout<sg_layout = [6], sg_data = [16]>
#sixteen = #xegpu.layout<sg_layout = [6], sg_data = [16]>
#a = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 32]>
#b = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16]>

// -----
// vector.broadcast: scalar
// with x = 1.5
gpu.func @k(%R: memref<16x48xf32>, %x: f32) kernel {
  %r = vector.broadcast %x : f32 to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.broadcast: 1-D
gpu.func @k(%A: memref<96xf32>, %R: memref<16x96xf32>) kernel {
  %ia = vector.step : vector<96xindex>
  %alla = arith.constant dense<true> : vector<96xi1>
  %a = xegpu.load %A[%ia], %alla <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  %r = vector.broadcast %a : vector<96xf32> to vector<16x96xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x96xf32> -> !xegpu.tensor_desc<16x96xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #wide}> : vector<16x96xf32>, !xegpu.tensor_desc<16x96xf32>
  gpu.return
}
// -----
// vector.broadcast: a row
gpu.func @k(%A: memref<1x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<1x48xf32> -> !xegpu.tensor_desc<1x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #row}> : !xegpu.tensor_desc<1x48xf32> -> vector<1x48xf32>
  %r = vector.broadcast %a : vector<1x48xf32> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.broadcast: a column
gpu.func @k(%A: memref<16x1xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x1xf32> -> !xegpu.tensor_desc<16x1xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #column}> : !xegpu.tensor_desc<16x1xf32> -> vector<16x1xf32>
  %r = vector.broadcast %a : vector<16x1xf32> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.transpose: $TYPE
// TYPE = f32 f16 i8
gpu.func @k(%A: memref<48x16x$TYPE>, %R: memref<16x48x$TYPE>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<48x16x$TYPE> -> !xegpu.tensor_desc<48x16x$TYPE>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #t}> : !xegpu.tensor_desc<48x16x$TYPE> -> vector<48x16x$TYPE>
  %r = vector.transpose %a, [1, 0] : vector<48x16x$TYPE> to vector<16x48x$TYPE>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48x$TYPE>, !xegpu.tensor_desc<16x48x$TYPE>
  gpu.return
}
// -----
// vector.transpose: 3-D
gpu.func @k(%A: memref<16x48xf32>, %R: memref<48x16xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %x = vector.shape_cast %a : vector<16x48xf32> to vector<2x8x48xf32>
  %y = vector.transpose %x, [2, 0, 1] : vector<2x8x48xf32> to vector<48x2x8xf32>
  %r = vector.shape_cast %y : vector<48x2x8xf32> to vector<48x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<48x16xf32> -> !xegpu.tensor_desc<48x16xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #t}> : vector<48x16xf32>, !xegpu.tensor_desc<48x16xf32>
  gpu.return
}
// -----
// vector.shape_cast: unit dimensions
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %x = vector.shape_cast %a : vector<16x48xf32> to vector<1x16x48xf32>
  %r = vector.shape_cast %x : vector<1x16x48xf32> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.shape_cast: rows to a line
gpu.func @k(%A: memref<16x48xf32>, %R: memref<8x96xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %x = vector.shape_cast %a : vector<16x48xf32> to vector<768xf32>
  %r = vector.shape_cast %x : vector<768xf32> to vector<8x96xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<8x96xf32> -> !xegpu.tensor_desc<8x96xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #flat}> : vector<8x96xf32>, !xegpu.tensor_desc<8x96xf32>
  gpu.return
}
// -----
// vector.bitcast: wider
gpu.func @k(%A: memref<16x96xf16>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xf16> -> !xegpu.tensor_desc<16x96xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #wide}> : !xegpu.tensor_desc<16x96xf16> -> vector<16x96xf16>
  %r = vector.bitcast %a : vector<16x96xf16> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// vector.bitcast: narrower
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x96xi16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %r = vector.bitcast %a : vector<16x48xi32> to vector<16x96xi16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x96xi16> -> !xegpu.tensor_desc<16x96xi16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #wide}> : vector<16x96xi16>, !xegpu.tensor_desc<16x96xi16>
  gpu.return
}
// -----
// vector.bitcast: same width
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = vector.bitcast %a : vector<16x48xf32> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// vector.multi_reduction: $KIND, dimension 0
// KIND = add mul minnumf maximumf
// tolerance 1e-5
// floats 0.5 1.5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<1x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %zero = arith.constant dense<1.0> : vector<48xf32>
  %s = vector.multi_reduction <$KIND>, %a, %zero [0] : vector<16x48xf32> to vector<48xf32>
  %r = vector.shape_cast %s : vector<48xf32> to vector<1x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<1x48xf32> -> !xegpu.tensor_desc<1x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #row}> : vector<1x48xf32>, !xegpu.tensor_desc<1x48xf32>
  gpu.return
}
// -----
// vector.multi_reduction: $KIND, dimension 1
// KIND = add mul minnumf maximumf
// tolerance 1e-5
// floats 0.5 1.5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x1xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %zero = arith.constant dense<1.0> : vector<16xf32>
  %s = vector.multi_reduction <$KIND>, %a, %zero [1] : vector<16x48xf32> to vector<16xf32>
  %r = vector.shape_cast %s : vector<16xf32> to vector<16x1xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x1xf32> -> !xegpu.tensor_desc<16x1xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #column}> : vector<16x1xf32>, !xegpu.tensor_desc<16x1xf32>
  gpu.return
}
// -----
// vector.multi_reduction: add, both dimensions
// tolerance 1e-5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %one = arith.constant 1.0 : f32
  %s = vector.multi_reduction <add>, %a, %one [0, 1] : vector<16x48xf32> to f32
  %r = vector.broadcast %s : f32 to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.reduction: $KIND, f32
// KIND = add mul minnumf maxnumf minimumf maximumf
// tolerance 1e-5
// floats 0.5 1.5
gpu.func @k(%A: memref<96xf32>, %R: memref<96xf32>) kernel {
  %ia = vector.step : vector<96xindex>
  %alla = arith.constant dense<true> : vector<96xi1>
  %a = xegpu.load %A[%ia], %alla <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  %s = vector.reduction <$KIND>, %a : vector<96xf32> into f32
  %r = vector.broadcast %s : f32 to vector<96xf32>
  %ir = vector.step : vector<96xindex>
  %allr = arith.constant dense<true> : vector<96xi1>
  xegpu.store %r, %R[%ir], %allr <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// vector.reduction: $KIND, i32
// KIND = add mul minsi minui maxsi maxui and or xor
gpu.func @k(%A: memref<96xi32>, %R: memref<96xi32>) kernel {
  %ia = vector.step : vector<96xindex>
  %alla = arith.constant dense<true> : vector<96xi1>
  %a = xegpu.load %A[%ia], %alla <{layout = #line}> : memref<96xi32>, vector<96xindex>, vector<96xi1> -> vector<96xi32>
  %s = vector.reduction <$KIND>, %a : vector<96xi32> into i32
  %r = vector.broadcast %s : i32 to vector<96xi32>
  %ir = vector.step : vector<96xindex>
  %allr = arith.constant dense<true> : vector<96xi1>
  xegpu.store %r, %R[%ir], %allr <{layout = #line}> : vector<96xi32>, memref<96xi32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// vector.reduction: add, with a start
// tolerance 1e-5
gpu.func @k(%A: memref<96xf32>, %R: memref<96xf32>) kernel {
  %ia = vector.step : vector<96xindex>
  %alla = arith.constant dense<true> : vector<96xi1>
  %a = xegpu.load %A[%ia], %alla <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  %x = arith.constant 2.5 : f32
  %s = vector.reduction <add>, %a, %x : vector<96xf32> into f32
  %r = vector.broadcast %s : f32 to vector<96xf32>
  %ir = vector.step : vector<96xindex>
  %allr = arith.constant dense<true> : vector<96xi1>
  xegpu.store %r, %R[%ir], %allr <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// vector.extract: element
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %s = vector.extract %a[3, 20] : f32 from vector<16x48xf32>
  %r = vector.broadcast %s : f32 to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.extract: element at a place that varies
// with m = 5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %m: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %s = vector.extract %a[%m, 20] : f32 from vector<16x48xf32>
  %r = vector.broadcast %s : f32 to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.extract: row
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %s = vector.extract %a[11] : vector<48xf32> from vector<16x48xf32>
  %r = vector.broadcast %s : vector<48xf32> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.insert: element
// with x = 9.5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %x: f32) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = vector.insert %x, %a [3, 20] : f32 into vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.insert: element at a place that varies
// with x = 9.5, m = 5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %x: f32, %m: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = vector.insert %x, %a [%m, 20] : f32 into vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.insert: row
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %s = vector.extract %a[11] : vector<48xf32> from vector<16x48xf32>
  %r = vector.insert %s, %a [2] : vector<48xf32> into vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.extract_strided_slice
gpu.func @k(%A: memref<16x96xf32>, %R: memref<8x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xf32> -> !xegpu.tensor_desc<16x96xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #wide}> : !xegpu.tensor_desc<16x96xf32> -> vector<16x96xf32>
  %r = vector.extract_strided_slice %a {offsets = [4, 24], sizes = [8, 48], strides = [1, 1]} : vector<16x96xf32> to vector<8x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<8x48xf32> -> !xegpu.tensor_desc<8x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #half}> : vector<8x48xf32>, !xegpu.tensor_desc<8x48xf32>
  gpu.return
}
// -----
// vector.insert_strided_slice
gpu.func @k(%A: memref<16x48xf32>, %B: memref<8x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<8x48xf32> -> !xegpu.tensor_desc<8x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #half}> : !xegpu.tensor_desc<8x48xf32> -> vector<8x48xf32>
  %r = vector.insert_strided_slice %b, %a {offsets = [5, 0], strides = [1, 1]} : vector<8x48xf32> into vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.step
gpu.func @k(%R: memref<96xi32>) kernel {
  %i = vector.step : vector<96xindex>
  %r = arith.index_cast %i : vector<96xindex> to vector<96xi32>
  %ir = vector.step : vector<96xindex>
  %allr = arith.constant dense<true> : vector<96xi1>
  xegpu.store %r, %R[%ir], %allr <{layout = #line}> : vector<96xi32>, memref<96xi32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// vector.create_mask
// with m = 13, n = 40
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %m: index, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %mask = vector.create_mask %m, %n : vector<16x48xi1>
  %zero = arith.constant dense<0.0> : vector<16x48xf32>
  %r = arith.select %mask, %a, %zero : vector<16x48xi1>, vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.constant_mask
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %mask = vector.constant_mask [13, 40] : vector<16x48xi1>
  %zero = arith.constant dense<0.0> : vector<16x48xf32>
  %r = arith.select %mask, %a, %zero : vector<16x48xi1>, vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.shuffle
gpu.func @k(%A: memref<96xf32>, %B: memref<96xf32>, %R: memref<96xf32>) kernel {
  %ia = vector.step : vector<96xindex>
  %alla = arith.constant dense<true> : vector<96xi1>
  %a = xegpu.load %A[%ia], %alla <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  %ib = vector.step : vector<96xindex>
  %allb = arith.constant dense<true> : vector<96xi1>
  %b = xegpu.load %B[%ib], %allb <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  %r = vector.shuffle %a, %b [100, 137, 174, 19, 56, 93, 130, 167, 12, 49, 86, 123, 160, 5, 42, 79, 116, 153, 190, 35, 72, 109, 146, 183, 28, 65, 102, 139, 176, 21, 58, 95, 132, 169, 14, 51, 88, 125, 162, 7, 44, 81, 118, 155, 0, 37, 74, 111, 148, 185, 30, 67, 104, 141, 178, 23, 60, 97, 134, 171, 16, 53, 90, 127, 164, 9, 46, 83, 120, 157, 2, 39, 76, 113, 150, 187, 32, 69, 106, 143, 180, 25, 62, 99, 136, 173, 18, 55, 92, 129, 166, 11, 48, 85, 122, 159] : vector<96xf32>, vector<96xf32>
  %ir = vector.step : vector<96xindex>
  %allr = arith.constant dense<true> : vector<96xi1>
  xegpu.store %r, %R[%ir], %allr <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// vector.from_elements
// with x = 1.5, y = 2.5
gpu.func @k(%R: memref<16xf32>, %x: f32, %y: f32) kernel {
  %r = vector.from_elements %y, %x, %x, %y, %x, %x, %y, %x, %x, %y, %x, %x, %y, %x, %x, %y : vector<16xf32>
  %ir = vector.step : vector<16xindex>
  %allr = arith.constant dense<true> : vector<16xi1>
  xegpu.store %r, %R[%ir], %allr <{layout = #sixteen}> : vector<16xf32>, memref<16xf32>, vector<16xindex>, vector<16xi1>
  gpu.return
}
// -----
// vector.fma
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xf32>, %C: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = vector.fma %a, %b, %c : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.contract
// tolerance 1e-4
gpu.func @k(%A: memref<16x32xf16>, %B: memref<32x48xf16>, %C: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x32xf16> -> !xegpu.tensor_desc<16x32xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #a}> : !xegpu.tensor_desc<16x32xf16> -> vector<16x32xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<32x48xf16> -> !xegpu.tensor_desc<32x48xf16>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #b}> : !xegpu.tensor_desc<32x48xf16> -> vector<32x48xf16>
  %tc = xegpu.create_nd_tdesc %C : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %c = xegpu.load_nd %tc[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c
    : vector<16x32xf16>, vector<32x48xf16> into vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
