// Sub-groups 1 and 2 alone write, either branch; at sub-group level, and at work-group level by a layout.
gpu.module @m {
  gpu.func @subgroups(%n: index, %o: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c16 = arith.constant 16 : index
    %s = gpu.subgroup_id : index
    %row = arith.muli %s, %c16 : index
    %odd = arith.cmpi eq, %s, %n : index
    %one = arith.constant dense<1.0> : vector<16x16xf32>
    %two = arith.constant dense<2.0> : vector<16x16xf32>
    %t = xegpu.create_nd_tdesc %o : memref<64x16xf32> -> !xegpu.tensor_desc<16x16xf32>
    scf.if %odd {
      xegpu.store_nd %one, %t[%row, 0] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    } else {
      xegpu.store_nd %two, %t[%row, 0] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    } {sg_id_range = #xegpu.range<[1, 3]>}
    gpu.return
  }
  gpu.func @workgroup(%n: index, %o: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = gpu.subgroup_id : index
    %odd = arith.cmpi eq, %s, %n : index
    %one = arith.constant dense<1.0> : vector<64x16xf32>
    %two = arith.constant dense<2.0> : vector<64x16xf32>
    %t = xegpu.create_nd_tdesc %o : memref<64x16xf32> -> !xegpu.tensor_desc<64x16xf32>
    scf.if %odd {
      xegpu.store_nd %one, %t[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 1], sg_data = [32, 16]>}> : vector<64x16xf32>, !xegpu.tensor_desc<64x16xf32>
    } else {
      xegpu.store_nd %two, %t[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 1], sg_data = [32, 16]>}> : vector<64x16xf32>, !xegpu.tensor_desc<64x16xf32>
    } {sg_id_range = #xegpu.range<[1, 3]>}
    gpu.return
  }
}
