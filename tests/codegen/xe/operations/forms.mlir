// Forms that real kernels use, which become others: branches, calls, switches, vectors in memory. Six sub-groups.
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>
#wide = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 32]>
#pairs = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 8]>
#across = #xegpu.slice<#xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>, dims = [0]>
#down = #xegpu.slice<#xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>, dims = [1]>
#line = #xegpu.layout<sg_layout = [6], sg_data = [16]>

// -----
// vector.interleave: $TYPE
// TYPE = f32 f16
gpu.func @k(%A: memref<16x48x$TYPE>, %B: memref<16x48x$TYPE>, %R: memref<16x96x$TYPE>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %r = vector.interleave %a, %b : vector<16x48x$TYPE> -> vector<16x96x$TYPE>
  %tr = xegpu.create_nd_tdesc %R : memref<16x96x$TYPE> -> !xegpu.tensor_desc<16x96x$TYPE>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #wide}> : vector<16x96x$TYPE>, !xegpu.tensor_desc<16x96x$TYPE>
  gpu.return
}
// -----
// vector.interleave: 1-D
// only sub-group: the layout of a block of 16 elements would be that of one sub-group
gpu.func @k(%A: memref<16xf32>, %R: memref<8x32xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16xf32> -> !xegpu.tensor_desc<16xf32>
  %a = xegpu.load_nd %ta[0] : !xegpu.tensor_desc<16xf32> -> vector<16xf32>
  %b = arith.negf %a : vector<16xf32>
  %x = vector.interleave %a, %b : vector<16xf32> -> vector<32xf32>
  %r = vector.broadcast %x : vector<32xf32> to vector<8x32xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<8x32xf32> -> !xegpu.tensor_desc<8x32xf32>
  xegpu.store_nd %r, %tr[0, 0] : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>
  gpu.return
}
// -----
// vector.deinterleave
// tolerance 1e-6
gpu.func @k(%A: memref<16x96xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x96xf32> -> !xegpu.tensor_desc<16x96xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #wide}> : !xegpu.tensor_desc<16x96xf32> -> vector<16x96xf32>
  %even, %odd = vector.deinterleave %a : vector<16x96xf32> -> vector<16x48xf32>
  %r = arith.subf %even, %odd : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.outerproduct: $KIND
// KIND = add mul maximumf
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %B: memref<48xf32>, %C: memref<16xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<48xf32> -> !xegpu.tensor_desc<48xf32>
  %b = xegpu.load_nd %tb[0] <{layout = #across}> : !xegpu.tensor_desc<48xf32> -> vector<48xf32>
  %tc = xegpu.create_nd_tdesc %C : memref<16xf32> -> !xegpu.tensor_desc<16xf32>
  %x = xegpu.load_nd %tc[0] <{layout = #down}> : !xegpu.tensor_desc<16xf32> -> vector<16xf32>
  %r = vector.outerproduct %x, %b, %a {kind = #vector.kind<$KIND>} : vector<16xf32>, vector<48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// vector.outerproduct: without an accumulator
gpu.func @k(%B: memref<48xi32>, %C: memref<16xi32>, %R: memref<16x48xi32>) kernel {
  %tb = xegpu.create_nd_tdesc %B : memref<48xi32> -> !xegpu.tensor_desc<48xi32>
  %b = xegpu.load_nd %tb[0] <{layout = #across}> : !xegpu.tensor_desc<48xi32> -> vector<48xi32>
  %tc = xegpu.create_nd_tdesc %C : memref<16xi32> -> !xegpu.tensor_desc<16xi32>
  %x = xegpu.load_nd %tc[0] <{layout = #down}> : !xegpu.tensor_desc<16xi32> -> vector<16xi32>
  %r = vector.outerproduct %x, %b : vector<16xi32>, vector<48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// vector.outerproduct: with a scalar
// with x = 1.5
// tolerance 1e-6
gpu.func @k(%A: memref<96xf32>, %B: memref<96xf32>, %R: memref<96xf32>, %x: f32) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<96xf32> -> !xegpu.tensor_desc<96xf32>
  %a = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<96xf32> -> vector<96xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<96xf32> -> !xegpu.tensor_desc<96xf32>
  %b = xegpu.load_nd %tb[0] <{layout = #line}> : !xegpu.tensor_desc<96xf32> -> vector<96xf32>
  %r = vector.outerproduct %a, %x, %b {kind = #vector.kind<add>} : vector<96xf32>, f32
  %tr = xegpu.create_nd_tdesc %R : memref<96xf32> -> !xegpu.tensor_desc<96xf32>
  xegpu.store_nd %r, %tr[0] <{layout = #line}> : vector<96xf32>, !xegpu.tensor_desc<96xf32>
  gpu.return
}
// -----
// vector.load: a block
// with i = 4
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %i: index) kernel {
  %j = arith.constant 16 : index
  %a = vector.load %A[%i, %j] {layout_result_0 = #pairs} : memref<16x48xf32>, vector<8x24xf32>
  %b = arith.negf %a : vector<8x24xf32>
  %c0 = arith.constant 0 : index
  vector.store %b, %R[%c0, %j] : memref<16x48xf32>, vector<8x24xf32>
  gpu.return
}
// -----
// vector.load: of dynamic extent
// with i = 3, A = 20x64xf32, R = 16x48xf32
gpu.func @k(%A: memref<?x?xf32>, %R: memref<?x?xf32>, %i: index) kernel {
  %j = arith.constant 16 : index
  %a = vector.load %A[%i, %j] {layout_result_0 = #c} : memref<?x?xf32>, vector<16x48xf32>
  %c0 = arith.constant 0 : index
  vector.store %a, %R[%c0, %c0] : memref<?x?xf32>, vector<16x48xf32>
  gpu.return
}
// -----
// vector.load: a row of three dimensions
// with i = 5
gpu.func @k(%A: memref<3x16x96xf32>, %R: memref<3x16x96xf32>, %i: index) kernel {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %a = vector.load %A[%c2, %i, %c0] {layout_result_0 = #line} : memref<3x16x96xf32>, vector<96xf32>
  vector.store %a, %R[%c0, %c2, %c0] : memref<3x16x96xf32>, vector<96xf32>
  gpu.return
}
// -----
// vector.store
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %c0 = arith.constant 0 : index
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.negf %a : vector<16x48xf32>
  vector.store %r, %R[%c0, %c0] : memref<16x48xf32>, vector<16x48xf32>
  gpu.return
}
// -----
// math.clampf: $TYPE
// TYPE = f32 f16 bf16
// with x = 0.5
gpu.func @k(%A: memref<16x48x$TYPE>, %R: memref<16x48x$TYPE>, %x: f32) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %low = arith.constant dense<-1.0> : vector<16x48x$TYPE>
  %high = arith.constant dense<0.5> : vector<16x48x$TYPE>
  %r = math.clampf %a to [%low, %high] : vector<16x48x$TYPE>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48x$TYPE>, !xegpu.tensor_desc<16x48x$TYPE>
  gpu.return
}
// -----
// affine.apply: sums and products
// with x = -7, y = -11, z = 10
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %x: index, %y: index, %z: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %m = affine.apply affine_map<(d0, d1)[s0] -> (d0 * 3 + d1 - s0 * 2)>(%x, %y)[%z]
  %i32 = arith.index_cast %m : index to i32
  %f = arith.sitofp %i32 : i32 to f32
  %v = vector.broadcast %f : f32 to vector<16x48xf32>
  %r = arith.addf %a, %v : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// affine.apply: quotients and remainders
// with x = -7, y = -11, z = 10
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %x: index, %y: index, %z: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %m = affine.apply affine_map<(d0, d1)[s0] -> (d0 floordiv 4 + (d1 mod 5) * 16 + s0 ceildiv 3 + (d0 mod 3) * 64)>(%x, %y)[%z]
  %i32 = arith.index_cast %m : index to i32
  %f = arith.sitofp %i32 : i32 to f32
  %v = vector.broadcast %f : f32 to vector<16x48xf32>
  %r = arith.addf %a, %v : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.for: one type without parentheses
// with n = 3
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%x = %a) -> vector<16x48xf32> {
    %y = arith.addf %x, %a : vector<16x48xf32>
    scf.yield %y : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.if: one type without parentheses
// with n = 3
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c1 = arith.constant 1 : index
  %some = arith.cmpi sgt, %n, %c1 : index
  %r = scf.if %some -> vector<16x48xf32> {
    %y = arith.addf %a, %a : vector<16x48xf32>
    scf.yield %y : vector<16x48xf32>
  } else {
    scf.yield %a : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.index_switch: the first case
// with n = 2
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = scf.index_switch %n -> vector<16x48xf32>
  case 2 {
    %x = arith.addf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  }
  case 5 {
    %x = arith.mulf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  }
  default {
    scf.yield %a : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.index_switch: the last case
// with n = 5
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = scf.index_switch %n -> vector<16x48xf32>
  case 2 {
    %x = arith.addf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  }
  case 5 {
    %x = arith.mulf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  }
  default {
    scf.yield %a : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.index_switch: the default
// with n = 3
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = scf.index_switch %n -> vector<16x48xf32>
  case 2 {
    %x = arith.addf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  }
  case 5 {
    %x = arith.mulf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  }
  default {
    scf.yield %a : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// cf.br
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  cf.br ^next(%a : vector<16x48xf32>)
^next(%x: vector<16x48xf32>):
  %r = arith.addf %x, %x : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// cf.cond_br: taken
// with n = 3
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c1 = arith.constant 1 : index
  %some = arith.cmpi sgt, %n, %c1 : index
  cf.cond_br %some, ^double, ^end(%a : vector<16x48xf32>)
^double:
  %x = arith.addf %a, %a : vector<16x48xf32>
  cf.br ^end(%x : vector<16x48xf32>)
^end(%r: vector<16x48xf32>):
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// cf.cond_br: not taken
// with n = 1
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c1 = arith.constant 1 : index
  %some = arith.cmpi sgt, %n, %c1 : index
  cf.cond_br %some, ^double, ^end(%a : vector<16x48xf32>)
^double:
  %x = arith.addf %a, %a : vector<16x48xf32>
  cf.br ^end(%x : vector<16x48xf32>)
^end(%r: vector<16x48xf32>):
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// cf.cond_br: a loop
// with n = 4
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %a : index, vector<16x48xf32>)
^head(%i: index, %x: vector<16x48xf32>):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %y = arith.addf %x, %a : vector<16x48xf32>
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %y : index, vector<16x48xf32>)
^end:
  %r = arith.subf %x, %a : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// cf.cond_br: a loop that tests at its end, in a loop
// with n = 3
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^outer(%c0, %a : index, vector<16x48xf32>)
^outer(%i: index, %x: vector<16x48xf32>):
  cf.br ^inner(%c0, %x : index, vector<16x48xf32>)
^inner(%j: index, %y: vector<16x48xf32>):
  %z = arith.addf %y, %a : vector<16x48xf32>
  %j1 = arith.addi %j, %c1 : index
  %again = arith.cmpi sle, %j1, %i : index
  cf.cond_br %again, ^inner(%j1, %z : index, vector<16x48xf32>), ^after
^after:
  %i1 = arith.addi %i, %c1 : index
  %done = arith.cmpi sge, %i1, %n : index
  cf.cond_br %done, ^end, ^outer(%i1, %z : index, vector<16x48xf32>)
^end:
  %r = arith.subf %z, %a : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// func.call
// tolerance 1e-6
func.func @twice(%v: vector<16x48xf32>) -> vector<16x48xf32> {
  %d = func.call @sum(%v, %v) : (vector<16x48xf32>, vector<16x48xf32>) -> vector<16x48xf32>
  return %d : vector<16x48xf32>
}
func.func @sum(%v: vector<16x48xf32>, %w: vector<16x48xf32>) -> vector<16x48xf32> {
  %s = arith.addf %v, %w : vector<16x48xf32>
  return %s : vector<16x48xf32>
}
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %x = func.call @twice(%a) : (vector<16x48xf32>) -> vector<16x48xf32>
  %r = func.call @twice(%x) : (vector<16x48xf32>) -> vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.subgroup_reduce: $KIND
// KIND = add mul maxnumf minimumf
// with x = 1.25
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %x: f32) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %s = gpu.subgroup_reduce $KIND %x : (f32) -> f32
  %v = vector.broadcast %s : f32 to vector<16x48xf32>
  %r = arith.addf %a, %v : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.subgroup_reduce: of a cluster, i32
// with x = 7
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x48xi32>, %x: i32) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %s = gpu.subgroup_reduce add %x uniform cluster(size = 4) : (i32) -> i32
  %v = vector.broadcast %s : i32 to vector<16x48xi32>
  %r = arith.addi %a, %v : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// memref.extract_aligned_pointer_as_index
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %p = memref.extract_aligned_pointer_as_index %A : memref<16x48xf32> -> index
  %i = arith.index_cast %p : index to i64
  %ta = xegpu.create_nd_tdesc %i, shape : [16, 48], strides : [48, 1] : i64 -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.negf %a : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// memref.atomic_rmw: $KIND, f32
// KIND = addf maximumf minnumf assign
// with i = 2, x = 0.25
// tolerance 1e-4
gpu.func @k(%A: memref<5x7xf32>, %R: memref<16x48xf32>, %i: index, %x: f32) kernel {
  %c3 = arith.constant 3 : index
  %old = memref.atomic_rmw $KIND %x, %A[%c3, %i] : (f32, memref<5x7xf32>) -> f32
  %r = arith.constant {layout_result_0 = #c} dense<1.0> : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// memref.atomic_rmw: $KIND, i32
// KIND = addi muli maxs minu ori
// with i = 2, x = 3
gpu.func @k(%A: memref<96xi32>, %R: memref<16x48xi32>, %i: index, %x: i32) kernel {
  %old = memref.atomic_rmw $KIND %x, %A[%i] : (i32, memref<96xi32>) -> i32
  %r = arith.constant {layout_result_0 = #c} dense<1> : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// vector.gather: $INDEX
// INDEX = i32 i64
// integers 0 90
// with i = 2
gpu.func @k(%A: memref<7x96xf32>, %R: memref<96xf32>, %I: memref<96x$INDEX>, %i: index) kernel {
  %ti = xegpu.create_nd_tdesc %I : memref<96x$INDEX> -> !xegpu.tensor_desc<96x$INDEX>
  %n = xegpu.load_nd %ti[0] <{layout = #line}> : !xegpu.tensor_desc<96x$INDEX> -> vector<96x$INDEX>
  %limit = arith.constant dense<50> : vector<96x$INDEX>
  %m = arith.cmpi slt, %n, %limit : vector<96x$INDEX>
  %c3 = arith.constant 3 : index
  %none = arith.constant dense<-1.0> : vector<96xf32>
  %a = vector.gather %A[%i, %c3] [%n], %m, %none {layout_result_0 = #line} : memref<7x96xf32>, vector<96x$INDEX>, vector<96xi1>, vector<96xf32> into vector<96xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<96xf32> -> !xegpu.tensor_desc<96xf32>
  xegpu.store_nd %a, %tr[0] <{layout = #line}> : vector<96xf32>, !xegpu.tensor_desc<96xf32>
  gpu.return
}
// -----
// vector.scatter
// with i = 2
gpu.func @k(%A: memref<96xf16>, %R: memref<7x96xf16>, %i: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<96xf16> -> !xegpu.tensor_desc<96xf16>
  %a = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<96xf16> -> vector<96xf16>
  %n = vector.step : vector<96xindex>
  %last = arith.constant dense<95> : vector<96xindex>
  %limit = arith.constant dense<40> : vector<96xindex>
  %m = arith.cmpi sgt, %n, %limit : vector<96xindex>
  %at = arith.subi %last, %n : vector<96xindex>
  %c0 = arith.constant 0 : index
  vector.scatter %R[%i, %c0] [%at], %m, %a : memref<7x96xf16>, vector<96xindex>, vector<96xi1>, vector<96xf16>
  gpu.return
}
