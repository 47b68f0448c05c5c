// XeGPU's matrices in shared local memory, barriers and fences. Six sub-groups.
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [8, 16]>
#columns = #xegpu.layout<sg_layout = [1, 6], sg_data = [16, 8]>
#rows = #xegpu.layout<sg_layout = [3, 2], sg_data = [16, 8]>
#t = #xegpu.layout<sg_layout = [3, 2], sg_data = [8, 8]>
!desc = !xegpu.tensor_desc<16x48xf32>

// -----
// xegpu.create_mem_desc: memref.alloca
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.create_mem_desc: workgroup attribution
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) workgroup(%s: memref<3072xi8, 3>) kernel {
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !desc
  gpu.return
}
// -----
// xegpu.load_matrix: f32
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.load_matrix: f16
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %s = memref.alloca() : memref<1536xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<1536xi8, 3> -> !xegpu.mem_desc<16x48xf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.mem_desc<16x48xf16>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf16> -> vector<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// xegpu.load_matrix: bf16
gpu.func @k(%A: memref<16x48xbf16>, %R: memref<16x48xbf16>) kernel {
  %s = memref.alloca() : memref<1536xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<1536xi8, 3> -> !xegpu.mem_desc<16x48xbf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xbf16> -> vector<16x48xbf16>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xbf16>, !xegpu.mem_desc<16x48xbf16>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xbf16> -> vector<16x48xbf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xbf16>, !xegpu.tensor_desc<16x48xbf16>
  gpu.return
}
// -----
// xegpu.load_matrix: i8
gpu.func @k(%A: memref<16x48xi8>, %R: memref<16x48xi8>) kernel {
  %s = memref.alloca() : memref<768xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<768xi8, 3> -> !xegpu.mem_desc<16x48xi8>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi8> -> !xegpu.tensor_desc<16x48xi8>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi8> -> !xegpu.tensor_desc<16x48xi8>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi8> -> vector<16x48xi8>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xi8>, !xegpu.mem_desc<16x48xi8>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xi8> -> vector<16x48xi8>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xi8>, !xegpu.tensor_desc<16x48xi8>
  gpu.return
}
// -----
// xegpu.load_matrix: i32
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xi32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.mem_desc<16x48xi32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xi32> -> vector<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// xegpu.load_matrix: stride, columns
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16]>>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16]>>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16]>> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.load_matrix: rows with padding
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3328xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3328xi8, 3> -> !xegpu.mem_desc<16x52xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x52xf32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x52xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.load_matrix: block
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<block = [8, 16]>>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<block = [8, 16]>>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<block = [8, 16]>> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.load_matrix: stride and block
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16], block = [8, 16]>>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16], block = [8, 16]>>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16], block = [8, 16]>> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.load_matrix: subgroup_block_io
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %s = memref.alloca() : memref<1536xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<1536xi8, 3> -> !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [48, 1], block = [8, 16]>>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [48, 1], block = [8, 16]>>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{subgroup_block_io, layout = #c}> : !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [48, 1], block = [8, 16]>> -> vector<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// xegpu.load_matrix: offsets
// with n = 32
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>, %n: index) kernel {
  %s = memref.alloca() : memref<6144xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<6144xi8, 3> -> !xegpu.mem_desc<32x96xf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  xegpu.store_matrix %a, %d[16, %n] <{layout = #c}> : vector<16x48xf16>, !xegpu.mem_desc<32x96xf16>, index
  gpu.barrier
  %r = xegpu.load_matrix %d[16, %n] <{layout = #c}> : !xegpu.mem_desc<32x96xf16>, index -> vector<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// xegpu.load_matrix: 3-D
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %s = memref.alloca() : memref<4608xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<4608xi8, 3> -> !xegpu.mem_desc<3x16x48xf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  %b = vector.shape_cast %a : vector<16x48xf16> to vector<1x16x48xf16>
  xegpu.store_matrix %b, %d[2, 0, 0] : vector<1x16x48xf16>, !xegpu.mem_desc<3x16x48xf16>
  gpu.barrier
  %c = xegpu.load_matrix %d[2, 0, 0] : !xegpu.mem_desc<3x16x48xf16> -> vector<1x16x48xf16>
  %r = vector.shape_cast %c : vector<1x16x48xf16> to vector<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// xegpu.store_matrix: f32
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.store_matrix: f16
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %s = memref.alloca() : memref<1536xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<1536xi8, 3> -> !xegpu.mem_desc<16x48xf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.mem_desc<16x48xf16>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xf16> -> vector<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// xegpu.store_matrix: bf16
gpu.func @k(%A: memref<16x48xbf16>, %R: memref<16x48xbf16>) kernel {
  %s = memref.alloca() : memref<1536xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<1536xi8, 3> -> !xegpu.mem_desc<16x48xbf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xbf16> -> !xegpu.tensor_desc<16x48xbf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xbf16> -> vector<16x48xbf16>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xbf16>, !xegpu.mem_desc<16x48xbf16>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xbf16> -> vector<16x48xbf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xbf16>, !xegpu.tensor_desc<16x48xbf16>
  gpu.return
}
// -----
// xegpu.store_matrix: i8
gpu.func @k(%A: memref<16x48xi8>, %R: memref<16x48xi8>) kernel {
  %s = memref.alloca() : memref<768xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<768xi8, 3> -> !xegpu.mem_desc<16x48xi8>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi8> -> !xegpu.tensor_desc<16x48xi8>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi8> -> !xegpu.tensor_desc<16x48xi8>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi8> -> vector<16x48xi8>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xi8>, !xegpu.mem_desc<16x48xi8>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xi8> -> vector<16x48xi8>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi8>, !xegpu.tensor_desc<16x48xi8>
  gpu.return
}
// -----
// xegpu.store_matrix: i32
gpu.func @k(%A: memref<16x48xi32>, %R: memref<16x48xi32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xi32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xi32> -> !xegpu.tensor_desc<16x48xi32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xi32> -> vector<16x48xi32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.mem_desc<16x48xi32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xi32> -> vector<16x48xi32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xi32>, !xegpu.tensor_desc<16x48xi32>
  gpu.return
}
// -----
// xegpu.store_matrix: stride, columns
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16]>>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16]>>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<stride = [1, 16]>> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.store_matrix: block
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<block = [8, 16]>>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<block = [8, 16]>>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xf32, #xegpu.mem_layout<block = [8, 16]>> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// -----
// xegpu.mem_desc_subview: offsets
// with n = 8
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>, %n: index) kernel {
  %s = memref.alloca() : memref<6144xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<6144xi8, 3> -> !xegpu.mem_desc<32x96xf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  %e = xegpu.mem_desc_subview %d[%n, 32] : !xegpu.mem_desc<32x96xf16> -> !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [96, 1]>>
  xegpu.store_matrix %a, %e[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [96, 1]>>
  gpu.barrier
  %r = xegpu.load_matrix %e[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [96, 1]>> -> vector<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// xegpu.mem_desc_subview: fewer dimensions
gpu.func @k(%A: memref<16x48xf16>, %R: memref<16x48xf16>) kernel {
  %s = memref.alloca() : memref<4608xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<4608xi8, 3> -> !xegpu.mem_desc<3x16x48xf16>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf16> -> !xegpu.tensor_desc<16x48xf16>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf16> -> vector<16x48xf16>
  %e = xegpu.mem_desc_subview %d[2, 0, 0] : !xegpu.mem_desc<3x16x48xf16> -> !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [48, 1]>>
  xegpu.store_matrix %a, %e[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [48, 1]>>
  gpu.barrier
  %r = xegpu.load_matrix %e[0, 0] <{layout = #c}> : !xegpu.mem_desc<16x48xf16, #xegpu.mem_layout<stride = [48, 1]>> -> vector<16x48xf16>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #c}> : vector<16x48xf16>, !xegpu.tensor_desc<16x48xf16>
  gpu.return
}
// -----
// xegpu.alloc_nbarrier, init_nbarrier, nbarrier_arrive, nbarrier_wait
// subgroups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.alloc_nbarrier 2
  %id = arith.constant 1 : i8
  %all = arith.constant 6 : i8
  %b = xegpu.init_nbarrier %id, %all : i8, i8 -> !xegpu.nbarrier
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32>
  xegpu.nbarrier_arrive %b : !xegpu.nbarrier
  xegpu.nbarrier_wait %b : !xegpu.nbarrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !desc
  gpu.return
}
// at sub-group level
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %g = gpu.subgroup_id : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.muli %g, %c16 : index
  %g1 = arith.addi %g, %c1 : index
  %g2 = arith.remui %g1, %c3 : index
  %o = arith.muli %g2, %c16 : index
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %a = xegpu.load_nd %ta[0, %n] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
  xegpu.alloc_nbarrier 2
  %id = arith.constant 1 : i8
  %all = arith.constant 3 : i8
  %b = xegpu.init_nbarrier %id, %all : i8, i8 -> !xegpu.nbarrier
  xegpu.store_matrix %a, %d[0, %n] : vector<16x16xf32>, !xegpu.mem_desc<16x48xf32>, index
  xegpu.nbarrier_arrive %b : !xegpu.nbarrier
  xegpu.nbarrier_wait %b : !xegpu.nbarrier
  %r = xegpu.load_matrix %d[0, %o] : !xegpu.mem_desc<16x48xf32>, index -> vector<16x16xf32>
  xegpu.store_nd %r, %tr[0, %o] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
  gpu.return
}
// -----
// xegpu.fence: $MEMORY, $SCOPE
// MEMORY = slm global
// SCOPE = workgroup gpu
// subgroups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !desc
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !desc
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !desc -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32>
  xegpu.fence memory_kind = $MEMORY, fence_scope = $SCOPE
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !desc
  gpu.return
}
// at sub-group level
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %g = gpu.subgroup_id : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.muli %g, %c16 : index
  %g1 = arith.addi %g, %c1 : index
  %g2 = arith.remui %g1, %c3 : index
  %o = arith.muli %g2, %c16 : index
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %a = xegpu.load_nd %ta[0, %n] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
  xegpu.store_matrix %a, %d[0, %n] : vector<16x16xf32>, !xegpu.mem_desc<16x48xf32>, index
  xegpu.fence memory_kind = $MEMORY, fence_scope = $SCOPE
  gpu.barrier
  %r = xegpu.load_matrix %d[0, %o] : !xegpu.mem_desc<16x48xf32>, index -> vector<16x16xf32>
  xegpu.store_nd %r, %tr[0, %o] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
  gpu.return
}
// -----
// gpu.barrier
// subgroups 3
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x48xf32>
  %a = xegpu.load_nd %ta[0, 0] <{layout = #c}> : !xegpu.tensor_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_matrix %a, %d[0, 0] <{layout = #c}> : vector<16x48xf32>, !xegpu.mem_desc<16x48xf32>
  gpu.barrier
  %r = xegpu.load_matrix %d[0, 0] <{layout = #columns}> : !xegpu.mem_desc<16x48xf32> -> vector<16x48xf32>
  xegpu.store_nd %r, %tr[0, 0] <{layout = #columns}> : vector<16x48xf32>, !xegpu.tensor_desc<16x48xf32>
  gpu.return
}
// at sub-group level
gpu.func @k(%A: memref<16x48xf32>, %R: memref<16x48xf32>) kernel {
  %s = memref.alloca() : memref<3072xi8, 3>
  %d = xegpu.create_mem_desc %s : memref<3072xi8, 3> -> !xegpu.mem_desc<16x48xf32>
  %g = gpu.subgroup_id : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.muli %g, %c16 : index
  %g1 = arith.addi %g, %c1 : index
  %g2 = arith.remui %g1, %c3 : index
  %o = arith.muli %g2, %c16 : index
  %ta = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %tr = xegpu.create_nd_tdesc %R : memref<16x48xf32> -> !xegpu.tensor_desc<16x16xf32>
  %a = xegpu.load_nd %ta[0, %n] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
  xegpu.store_matrix %a, %d[0, %n] : vector<16x16xf32>, !xegpu.mem_desc<16x48xf32>, index
  gpu.barrier
  %r = xegpu.load_matrix %d[0, %o] : !xegpu.mem_desc<16x48xf32>, index -> vector<16x16xf32>
  xegpu.store_nd %r, %tr[0, %o] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
  gpu.return
}
