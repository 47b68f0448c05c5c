// The arith dialect, element by element. Six sub-groups.
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>

// -----
// arith.$OP: f32
// OP = addf subf mulf divf maximumf minimumf maxnumf minnumf
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.$OP %a, %b : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.$OP: f16
// OP = addf subf mulf divf maximumf minimumf maxnumf minnumf
// tolerance 0.002
gpu.func @k(%A: memref<16x48xf16>, %B: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  %r = arith.$OP %a, %b : vector<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// arith.$OP: bf16
// OP = addf subf mulf divf maximumf minimumf maxnumf minnumf
// tolerance 0.01
gpu.func @k(%A: memref<16x48xbf16>, %B: memref<16x48xbf16>, %R: memref<16x48xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xbf16> -> vector<16x48xbf16>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xbf16> -> vector<16x48xbf16>
  %r = arith.$OP %a, %b : vector<16x48xbf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xbf16>, !xegpu.tensor_desc<16x48xbf16>
  gpu.return
}
// -----
// arith.remf: f32
// tolerance 1e-5
// floats 0.5 9
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.remf %a, %b : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.negf: $TYPE
// TYPE = f32 f16 bf16
gpu.func @k(%A: memref<16x48x$TYPE>, %R: memref<16x48x$TYPE>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %r = arith.negf %a : vector<16x48x$TYPE>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48x$TYPE>, !xegpu.tensor_desc<16x48x$TYPE>
  gpu.return
}
// -----
// arith.$OP: i32
// OP = addi subi muli minsi minui maxsi maxui andi ori xori
gpu.func @k(%A: memref<16x48xi32>, %B: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %r = arith.$OP %a, %b : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.$OP: $TYPE
// OP = addi muli
// TYPE = i8 i16 i64
gpu.func @k(%A: memref<16x48x$TYPE>, %B: memref<16x48x$TYPE>, %R: memref<16x48x$TYPE>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48x$TYPE> -> vector<16x48x$TYPE>
  %r = arith.$OP %a, %b : vector<16x48x$TYPE>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$TYPE> -> !xegpu.tensor_desc<16x48x$TYPE>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48x$TYPE>, !xegpu.tensor_desc<16x48x$TYPE>
  gpu.return
}
// -----
// arith.$OP: i32
// OP = divsi divui floordivsi ceildivsi ceildivui remsi remui
gpu.func @k(%A: memref<16x48xi32>, %B: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %one = arith.constant dense<1> : vector<16x48xi32>
  %d = arith.ori %b, %one : vector<16x48xi32>
  %r = arith.$OP %a, %d : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.$OP: i32
// OP = shli shrui shrsi
gpu.func @k(%A: memref<16x48xi32>, %B: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %most = arith.constant dense<31> : vector<16x48xi32>
  %d = arith.andi %b, %most : vector<16x48xi32>
  %r = arith.$OP %a, %d : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.$OP: i32
// OP = mulsi_extended mului_extended
// integers -2000000 2000000
gpu.func @k(%A: memref<16x48xi32>, %B: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %x, %y = arith.$OP %a, %b : vector<16x48xi32>
  %r = arith.addi %x, %y : vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.addui_extended: i32
gpu.func @k(%A: memref<16x48xi32>, %B: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %x, %y = arith.addui_extended %a, %b : vector<16x48xi32>, vector<16x48xi1>
  %r = arith.select %y, %a, %x : vector<16x48xi1>, vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.cmpi: $P
// P = eq ne slt sle sgt sge ult ule ugt uge
// integers -4 4
gpu.func @k(%A: memref<16x48xi32>, %B: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %p = arith.cmpi $P, %a, %b : vector<16x48xi32>
  %r = arith.select %p, %a, %b : vector<16x48xi1>, vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.cmpf: $P
// P = oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c = arith.constant dense<7.0> : vector<16x48xf32>
  %x = math.log %a : vector<16x48xf32>
  %p = arith.cmpf $P, %x, %b : vector<16x48xf32>
  %r = arith.select %p, %a, %c : vector<16x48xi1>, vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.select: one condition
// with m = 3
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xf32>, %R: memref<16x48xf32>, %m: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %zero = arith.constant 0 : index
  %p = arith.cmpi ne, %m, %zero : index
  %r = arith.select %p, %a, %b : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.constant: splat
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %x = arith.constant dense<2.5> : vector<16x48xf32>
  %r = arith.addf %a, %x : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.constant: of different numbers
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %x = arith.constant dense<[[0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5], [2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5], [4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5], [1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5], [3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5], [0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5], [2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5], [4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5], [1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5], [3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5], [0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5], [2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5], [4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5], [1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5], [3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5], [0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 2.5]]> : vector<16x48xf32>
  %r = arith.addf %a, %x : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.extf: f16 to f32
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  %r = arith.extf %a : vector<16x48xf16> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.extf: bf16 to f32
gpu.func @k(%A: memref<16x48xbf16>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xbf16> -> vector<16x48xbf16>
  %r = arith.extf %a : vector<16x48xbf16> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.extf: f32 to f64
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf64>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.extf %a : vector<16x48xf32> to vector<16x48xf64>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf64> -> !xegpu.tensor_desc<16x48xf64>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf64>, !xegpu.tensor_desc<16x48xf64>
  gpu.return
}
// -----
// arith.truncf: f32 to f16
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.truncf %a : vector<16x48xf32> to vector<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// arith.truncf: f32 to bf16
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xbf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.truncf %a : vector<16x48xf32> to vector<16x48xbf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xbf16>, !xegpu.tensor_desc<16x48xbf16>
  gpu.return
}
// -----
// arith.truncf: f64 to f32
gpu.func @k(%A: memref<16x48xf64>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf64> -> !xegpu.tensor_desc<16x48xf64>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf64> -> vector<16x48xf64>
  %r = arith.truncf %a : vector<16x48xf64> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.$OP: i8 to i32
// OP = extsi extui
gpu.func @k(%A: memref<16x48xi8>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi8> -> !xegpu.tensor_desc<16x48xi8>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi8> -> vector<16x48xi8>
  %r = arith.$OP %a : vector<16x48xi8> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.$OP: i16 to i32
// OP = extsi extui
gpu.func @k(%A: memref<16x48xi16>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi16> -> !xegpu.tensor_desc<16x48xi16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi16> -> vector<16x48xi16>
  %r = arith.$OP %a : vector<16x48xi16> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.trunci: i32 to $TO
// TO = i8 i16
// integers -200 200
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x48x$TO>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %r = arith.trunci %a : vector<16x48xi32> to vector<16x48x$TO>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48x$TO> -> !xegpu.tensor_desc<16x48x$TO>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48x$TO>, !xegpu.tensor_desc<16x48x$TO>
  gpu.return
}
// -----
// arith.$OP: i32 to f32
// OP = sitofp uitofp
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %r = arith.$OP %a : vector<16x48xi32> to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// arith.sitofp: i8 to f16
gpu.func @k(%A: memref<16x48xi8>, %R: memref<16x48xf16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi8> -> !xegpu.tensor_desc<16x48xi8>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi8> -> vector<16x48xi8>
  %r = arith.sitofp %a : vector<16x48xi8> to vector<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// arith.fptosi: f32 to i32
// floats -99 99
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.fptosi %a : vector<16x48xf32> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.fptoui: f32 to i32
// floats 0 99
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.fptoui %a : vector<16x48xf32> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.bitcast: f32 to i32
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %r = arith.bitcast %a : vector<16x48xf32> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// arith.bitcast: bf16 to i16
gpu.func @k(%A: memref<16x48xbf16>, %R: memref<16x48xi16>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xbf16> -> vector<16x48xbf16>
  %r = arith.bitcast %a : vector<16x48xbf16> to vector<16x48xi16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi16> -> !xegpu.tensor_desc<16x48xi16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi16>, !xegpu.tensor_desc<16x48xi16>
  gpu.return
}
// -----
// arith.$OP
// OP = index_cast index_castui
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  %x = arith.$OP %a : vector<16x48xi32> to vector<16x48xindex>
  %y = arith.addi %x, %x : vector<16x48xindex>
  %r = arith.index_cast %y : vector<16x48xindex> to vector<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
