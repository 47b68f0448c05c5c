// Control flow, ids and single elements of memory. Six sub-groups.
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>
#two = #xegpu.layout<sg_layout = [2, 1], sg_data = [8, 48]>
#four = #xegpu.layout<sg_layout = [4, 1], sg_data = [4, 48]>

// -----
// scf.for: a vector is carried
// with n = 3
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%x = %a) -> (vector<16x48xf32>) {
    %y = arith.addf %x, %a : vector<16x48xf32>
    scf.yield %y : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.for: several vectors that swap
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %B: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tb = xegpu.create_nd_tdesc %B : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %b = xegpu.load_nd %tb[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x, %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b) -> (vector<16x48xf32>, vector<16x48xf32>) {
    %z = arith.addf %x, %y : vector<16x48xf32>
    scf.yield %y, %z : vector<16x48xf32>, vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.for: nested, with numbers
// with n = 5
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %s = scf.for %i = %c0 to %n step %c2 iter_args(%x = %one) -> (f32) {
    %y = scf.for %j = %i to %n step %c1 iter_args(%u = %x) -> (f32) {
      %v = arith.addf %u, %one : f32
      scf.yield %v : f32
    }
    scf.yield %y : f32
  }
  %f = vector.broadcast %s : f32 to vector<16x48xf32>
  %r = arith.mulf %a, %f : vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.for: no iteration
// with n = 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.5> : vector<16x48xf32>
  %r = scf.for %k = %n to %c1 step %c1 iter_args(%x = %zero) -> (vector<16x48xf32>) {
    %y = arith.addf %x, %a : vector<16x48xf32>
    scf.yield %y : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.if: then
// with n = 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.cmpi sgt, %n, %c1 : index
  %r = scf.if %p -> (vector<16x48xf32>) {
    %x = arith.addf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  } else {
    scf.yield %a : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.if: else
// with n = 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.cmpi slt, %n, %c1 : index
  %r = scf.if %p -> (vector<16x48xf32>) {
    %x = arith.addf %a, %a : vector<16x48xf32>
    scf.yield %x : vector<16x48xf32>
  } else {
    scf.yield %a : vector<16x48xf32>
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// scf.if: by the work-group
// groups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c1 = arith.constant 1 : index
  %g = gpu.block_id x
  %p = arith.cmpi eq, %g, %c1 : index
  scf.if %p {
    %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
    xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  }
  gpu.return
}
// -----
// scf.if: sg_id_range
// only work-group: a range of sub-groups is one of a work-group
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %yes = arith.constant true
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  scf.if %yes {
    %a = xegpu.load_nd %ta[0, 0] <{layout = #two}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
    %b = arith.addf %a, %a : vector<16x48xf32>
    xegpu.store_nd %b, %tr[0, 0] <{layout = #two}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  } {sg_id_range = #xegpu.range<[2, 4]>}
  %unused = arith.constant {layout_result_0 = #c} dense<0.0> : vector<16x48xf32>
  gpu.return
}
// -----
// scf.while
// with n = 3
// tolerance 1e-6
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %n: index) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %end = scf.while (%x = %a, %k = %c0) : (vector<16x48xf32>, index) -> (vector<16x48xf32>, index) {
    %p = arith.cmpi slt, %k, %n : index
    scf.condition(%p) %x, %k : vector<16x48xf32>, index
  } do {
  ^bb0(%x: vector<16x48xf32>, %k: index):
    %y = arith.addf %x, %a : vector<16x48xf32>
    %next = arith.addi %k, %c1 : index
    scf.yield %y, %next : vector<16x48xf32>, index
  }
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.block_id
// groups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<3x16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %i = gpu.block_id x
  %n = arith.index_cast %i : index to i32
  %f = arith.sitofp %n : i32 to f32
  %x = vector.broadcast %f : f32 to vector<16x48xf32>
  %z = arith.addf %a, %x : vector<16x48xf32>
  %g = gpu.block_id x
  %tr = xegpu.create_nd_tdesc %R : memref<3x16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %z, %tr[%g, 0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.grid_dim
// groups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<3x16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %i = gpu.grid_dim x
  %n = arith.index_cast %i : index to i32
  %f = arith.sitofp %n : i32 to f32
  %x = vector.broadcast %f : f32 to vector<16x48xf32>
  %z = arith.addf %a, %x : vector<16x48xf32>
  %g = gpu.block_id x
  %tr = xegpu.create_nd_tdesc %R : memref<3x16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %z, %tr[%g, 0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.block_dim
// groups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<3x16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %i = gpu.block_dim x
  %n = arith.index_cast %i : index to i32
  %f = arith.sitofp %n : i32 to f32
  %x = vector.broadcast %f : f32 to vector<16x48xf32>
  %z = arith.addf %a, %x : vector<16x48xf32>
  %g = gpu.block_id x
  %tr = xegpu.create_nd_tdesc %R : memref<3x16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %z, %tr[%g, 0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.num_subgroups
// groups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<3x16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %i = gpu.num_subgroups : index
  %n = arith.index_cast %i : index to i32
  %f = arith.sitofp %n : i32 to f32
  %x = vector.broadcast %f : f32 to vector<16x48xf32>
  %z = arith.addf %a, %x : vector<16x48xf32>
  %g = gpu.block_id x
  %tr = xegpu.create_nd_tdesc %R : memref<3x16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %z, %tr[%g, 0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.subgroup_size
// groups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<3x16x48xf32>) kernel {
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %i = gpu.subgroup_size : index
  %n = arith.index_cast %i : index to i32
  %f = arith.sitofp %n : i32 to f32
  %x = vector.broadcast %f : f32 to vector<16x48xf32>
  %z = arith.addf %a, %x : vector<16x48xf32>
  %g = gpu.block_id x
  %tr = xegpu.create_nd_tdesc %R : memref<3x16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %z, %tr[%g, 0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// gpu.subgroup_id
// subgroups 3
// only sub-group: a work-group's value has no sub-group, layouts say who owns what
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %g = gpu.subgroup_id : index
  %c16 = arith.constant 16 : index
  %n = arith.muli %g, %c16 : index
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %a = xegpu.load_nd %ta[0, %n] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
  %b = arith.addf %a, %a : vector<16x16xf32>
  xegpu.store_nd %b, %tr[0, %n] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
  gpu.return
}
// -----
// gpu.thread_id: of a sub-group
// subgroups 3
// only sub-group: a work-group's value has no sub-group, layouts say who owns what
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %t = gpu.thread_id x
  %k16 = arith.constant 16 : index
  %g = arith.divui %t, %k16 : index
  %c16 = arith.constant 16 : index
  %n = arith.muli %g, %c16 : index
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %a = xegpu.load_nd %ta[0, %n] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
  %b = arith.addf %a, %a : vector<16x16xf32>
  xegpu.store_nd %b, %tr[0, %n] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
  gpu.return
}
// -----
// gpu.global_id: of a sub-group
// subgroups 3
// only sub-group: a work-group's value has no sub-group, layouts say who owns what
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %t = gpu.global_id x
  %k16 = arith.constant 16 : index
  %g = arith.divui %t, %k16 : index
  %c16 = arith.constant 16 : index
  %n = arith.muli %g, %c16 : index
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %a = xegpu.load_nd %ta[0, %n] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
  %b = arith.addf %a, %a : vector<16x16xf32>
  xegpu.store_nd %b, %tr[0, %n] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
  gpu.return
}
// -----
// memref.load
// with m = 5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %m: index) kernel {
  %c3 = arith.constant 3 : index
  %s = memref.load %A[%m, %c3] : memref<16x48xf32>
  %r = vector.broadcast %s : f32 to vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// memref.store
// with m = 5
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>, %m: index) kernel {
  %c3 = arith.constant 3 : index
  %s = memref.load %A[%c3, %m] : memref<16x48xf32>
  memref.store %s, %R[%m, %c3] : memref<16x48xf32>
  %unused = arith.constant {layout_result_0 = #c} dense<0.0> : vector<16x48xf32>
  gpu.return
}
// -----
// memref.dim
// with A = 13x40xf32
gpu.func @k(%A: memref<?x?xf32>, %R: memref<16x48xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32>
  %n = memref.dim %A, %c1 : memref<?x?xf32>
  %ta = xegpu.create_nd_tdesc %A, shape : [%m, %n], strides : [%n, 1] : memref<?x?xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[1, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  xegpu.store_nd %a, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
