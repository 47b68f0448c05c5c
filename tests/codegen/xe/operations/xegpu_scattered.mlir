// XeGPU's accesses to scattered elements. Six sub-groups; each owns a part of a line or of its chunks.
#line = #xegpu.layout<sg_layout = [6], sg_data = [16]>
#rows = #xegpu.layout<sg_layout = [6, 1], sg_data = [16, 4]>
#lanes = #xegpu.layout<sg_layout = [6, 1], sg_data = [16, 4], inst_data = [16, 4], lane_layout = [16, 1], lane_data = [1, 4]>
#turned = #xegpu.layout<sg_layout = [1, 6], sg_data = [4, 16]>
!desc = !xegpu.tensor_desc<96xf32, #xegpu.scatter_tdesc_attr<>, #line>
!chunks = !xegpu.tensor_desc<96x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #rows>
!rows = !xegpu.tensor_desc<96x4xf32>

// -----
// xegpu.create_tdesc: memref
gpu.func @k(%A: memref<200xf32>, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<200xf32>, vector<96xindex> -> !desc
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %t, %mask : !desc, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.create_tdesc: address
// with A = 200xf32
gpu.func @k(%A: i64, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : i64, vector<96xindex> -> !desc
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %t, %mask : !desc, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.create_tdesc: list of offsets
// with x = 9
// only sub-group: a list has no owners; at work-group level offsets are a vector
gpu.func @k(%A: memref<200xf32>, %R: memref<16xf32>, %x: index) kernel {
  %mask = arith.constant dense<true> : vector<16xi1>
  %t = xegpu.create_tdesc %A[0, 20, %x, 30, 4, 5, 7, 6, 100, 101, 102, 103, 150, 160, 170, 180] : memref<200xf32> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
  %tr = xegpu.create_nd_tdesc %R : memref<16xf32> -> !xegpu.tensor_desc<16xf32>
  %v = xegpu.load %t, %mask : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xf32>
  xegpu.store_nd %v, %tr[0] : vector<16xf32>, !xegpu.tensor_desc<16xf32>
  gpu.return
}
// -----
// xegpu.create_tdesc: shared local memory
gpu.func @k(%A: memref<96xf32>, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %last = arith.constant dense<95> : vector<96xindex>
  %j = arith.subi %last, %i : vector<96xindex>
  %mask = arith.constant dense<true> : vector<96xi1>
  %s = memref.alloca() : memref<96xf32, 3>
  %t = xegpu.create_tdesc %s, %j : memref<96xf32, 3>, vector<96xindex> -> !xegpu.tensor_desc<96xf32, #xegpu.scatter_tdesc_attr<memory_space = slm>, #line>
  %u = xegpu.create_tdesc %s, %i : memref<96xf32, 3>, vector<96xindex> -> !xegpu.tensor_desc<96xf32, #xegpu.scatter_tdesc_attr<memory_space = slm>, #line>
  %a = xegpu.load %A[%i], %mask <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  xegpu.store %a, %t, %mask : vector<96xf32>, !xegpu.tensor_desc<96xf32, #xegpu.scatter_tdesc_attr<memory_space = slm>, #line>, vector<96xi1>
  gpu.barrier
  %v = xegpu.load %u, %mask : !xegpu.tensor_desc<96xf32, #xegpu.scatter_tdesc_attr<memory_space = slm>, #line>, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %mask <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.load: $KIND
// KIND = f32 f16 bf16 i8 i16 i32 i64 f64
gpu.func @k(%A: memref<200x$KIND>, %R: memref<96x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<200x$KIND>, vector<96xindex> -> !xegpu.tensor_desc<96x$KIND, #xegpu.scatter_tdesc_attr<>, #line>
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %t, %mask : !xegpu.tensor_desc<96x$KIND, #xegpu.scatter_tdesc_attr<>, #line>, vector<96xi1> -> vector<96x$KIND>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96x$KIND>, memref<96x$KIND>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.load: hints
gpu.func @k(%A: memref<200xf32>, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<200xf32>, vector<96xindex> -> !desc
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %t, %mask <{l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<cached>}> : !desc, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.load: offsets on the access, $KIND
// KIND = f32 f16 bf16 i8 i16 i32 i64 f64
gpu.func @k(%A: memref<200x$KIND>, %R: memref<96x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %A[%at], %mask <{layout = #line}> : memref<200x$KIND>, vector<96xindex>, vector<96xi1> -> vector<96x$KIND>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96x$KIND>, memref<96x$KIND>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.load: offsets on the access, address
// with A = 200xf32
gpu.func @k(%A: i64, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %A[%at], %mask <{layout = #line}> : i64, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.load: chunk_size, $KIND
// KIND = f32 f16 i8 i32
gpu.func @k(%A: memref<800x$KIND>, %R: memref<96x4x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<800x$KIND>, vector<96xindex> -> !xegpu.tensor_desc<96x4x$KIND, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #rows>
  %tr = xegpu.create_nd_tdesc %R : memref<96x4x$KIND> -> !xegpu.tensor_desc<96x4x$KIND>
  %v = xegpu.load %t, %mask : !xegpu.tensor_desc<96x4x$KIND, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #rows>, vector<96xi1> -> vector<96x4x$KIND>
  xegpu.store_nd %v, %tr[0, 0] <{layout = #rows}> : vector<96x4x$KIND>, !xegpu.tensor_desc<96x4x$KIND>
  gpu.return
}
// -----
// xegpu.load: chunk_size, offsets on the access, $KIND
// KIND = f32 f16 i8 i32
gpu.func @k(%A: memref<800x$KIND>, %R: memref<96x4x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %tr = xegpu.create_nd_tdesc %R : memref<96x4x$KIND> -> !xegpu.tensor_desc<96x4x$KIND>
  %v = xegpu.load %A[%at], %mask <{chunk_size = 4 : i64, layout = #rows}> : memref<800x$KIND>, vector<96xindex>, vector<96xi1> -> vector<96x4x$KIND>
  xegpu.store_nd %v, %tr[0, 0] <{layout = #rows}> : vector<96x4x$KIND>, !xegpu.tensor_desc<96x4x$KIND>
  gpu.return
}
// -----
// xegpu.load: chunk_size, by a layout of lanes
gpu.func @k(%A: memref<800xf32>, %R: memref<800xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %all = arith.constant dense<true> : vector<96xi1>
  %at = arith.muli %i, %eight : vector<96xindex>
  %v = xegpu.load %A[%at], %all <{chunk_size = 4 : i64, layout = #lanes}> : memref<800xf32>, vector<96xindex>, vector<96xi1> -> vector<96x4xf32>
  xegpu.store %v, %R[%at], %all <{chunk_size = 4 : i64, layout = #lanes}> : vector<96x4xf32>, memref<800xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.load: chunk_size, transpose
gpu.func @k(%A: memref<800xf32>, %R: memref<4x96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<800xf32>, vector<96xindex> -> !chunks
  %tr = xegpu.create_nd_tdesc %R : memref<4x96xf32> -> !xegpu.tensor_desc<4x96xf32>
  %v = xegpu.load %t, %mask <{transpose}> : !chunks, vector<96xi1> -> vector<4x96xf32>
  xegpu.store_nd %v, %tr[0, 0] <{layout = #turned}> : vector<4x96xf32>, !xegpu.tensor_desc<4x96xf32>
  gpu.return
}
// -----
// xegpu.store: $KIND
// KIND = f32 f16 bf16 i8 i16 i32 i64 f64
gpu.func @k(%A: memref<96x$KIND>, %R: memref<200x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %at : memref<200x$KIND>, vector<96xindex> -> !xegpu.tensor_desc<96x$KIND, #xegpu.scatter_tdesc_attr<>, #line>
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %A[%i], %all <{layout = #line}> : memref<96x$KIND>, vector<96xindex>, vector<96xi1> -> vector<96x$KIND>
  xegpu.store %v, %t, %mask : vector<96x$KIND>, !xegpu.tensor_desc<96x$KIND, #xegpu.scatter_tdesc_attr<>, #line>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.store: hints
gpu.func @k(%A: memref<96xf32>, %R: memref<200xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %at : memref<200xf32>, vector<96xindex> -> !desc
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %A[%i], %all <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %t, %mask <{l1_hint = #xegpu.cache_hint<write_through>, l2_hint = #xegpu.cache_hint<write_back>}> : vector<96xf32>, !desc, vector<96xi1>
  gpu.return
}
// -----
// xegpu.store: offsets on the access, $KIND
// KIND = f32 f16 bf16 i8 i16 i32 i64 f64
gpu.func @k(%A: memref<96x$KIND>, %R: memref<200x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %A[%i], %all <{layout = #line}> : memref<96x$KIND>, vector<96xindex>, vector<96xi1> -> vector<96x$KIND>
  xegpu.store %v, %R[%at], %mask <{layout = #line}> : vector<96x$KIND>, memref<200x$KIND>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.store: offsets on the access, address
// with R = 200xf32
gpu.func @k(%A: memref<96xf32>, %R: i64) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %all = arith.constant dense<true> : vector<96xi1>
  %v = xegpu.load %A[%i], %all <{layout = #line}> : memref<96xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%at], %mask <{layout = #line}> : vector<96xf32>, i64, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.store: chunk_size, $KIND
// KIND = f32 f16 i8 i32
gpu.func @k(%A: memref<96x4x$KIND>, %R: memref<800x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %at : memref<800x$KIND>, vector<96xindex> -> !xegpu.tensor_desc<96x4x$KIND, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #rows>
  %ta = xegpu.create_nd_tdesc %A : memref<96x4x$KIND> -> !xegpu.tensor_desc<96x4x$KIND>
  %v = xegpu.load_nd %ta[0, 0] <{layout = #rows}> : !xegpu.tensor_desc<96x4x$KIND> -> vector<96x4x$KIND>
  xegpu.store %v, %t, %mask : vector<96x4x$KIND>, !xegpu.tensor_desc<96x4x$KIND, #xegpu.scatter_tdesc_attr<chunk_size = 4>, #rows>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.store: chunk_size, offsets on the access, $KIND
// KIND = f32 f16 i8 i32
gpu.func @k(%A: memref<96x4x$KIND>, %R: memref<800x$KIND>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %ta = xegpu.create_nd_tdesc %A : memref<96x4x$KIND> -> !xegpu.tensor_desc<96x4x$KIND>
  %v = xegpu.load_nd %ta[0, 0] <{layout = #rows}> : !xegpu.tensor_desc<96x4x$KIND> -> vector<96x4x$KIND>
  xegpu.store %v, %R[%at], %mask <{chunk_size = 4 : i64, layout = #rows}> : vector<96x4x$KIND>, memref<800x$KIND>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.store: chunk_size, transpose
gpu.func @k(%A: memref<4x96xf32>, %R: memref<800xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %at : memref<800xf32>, vector<96xindex> -> !chunks
  %ta = xegpu.create_nd_tdesc %A : memref<4x96xf32> -> !xegpu.tensor_desc<4x96xf32>
  %v = xegpu.load_nd %ta[0, 0] <{layout = #turned}> : !xegpu.tensor_desc<4x96xf32> -> vector<4x96xf32>
  xegpu.store %v, %t, %mask <{transpose}> : vector<4x96xf32>, !chunks, vector<96xi1>
  gpu.return
}
// -----
// xegpu.prefetch: descriptor
gpu.func @k(%A: memref<200xf32>, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<200xf32>, vector<96xindex> -> !desc
  %all = arith.constant dense<true> : vector<96xi1>
  xegpu.prefetch %t <{l1_hint = #xegpu.cache_hint<cached>}> : !desc
  %v = xegpu.load %t, %mask : !desc, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.prefetch: offsets
gpu.func @k(%A: memref<200xf32>, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %all = arith.constant dense<true> : vector<96xi1>
  xegpu.prefetch %A[%at] <{layout = #line}> : memref<200xf32>, vector<96xindex>
  %v = xegpu.load %A[%at], %mask <{layout = #line}> : memref<200xf32>, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.prefetch: address
// with A = 200xf32
gpu.func @k(%A: i64, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %all = arith.constant dense<true> : vector<96xi1>
  xegpu.prefetch %A[%at] <{offset_align_byte = 4 : i64, layout = #line}> : i64, vector<96xindex>
  %v = xegpu.load %A[%at], %mask <{layout = #line}> : i64, vector<96xindex>, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.prefetch: chunk_size
gpu.func @k(%A: memref<800xf32>, %R: memref<96x4xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<800xf32>, vector<96xindex> -> !chunks
  %tr = xegpu.create_nd_tdesc %R : memref<96x4xf32> -> !rows
  xegpu.prefetch %t : !chunks
  %v = xegpu.load %t, %mask : !chunks, vector<96xi1> -> vector<96x4xf32>
  xegpu.store_nd %v, %tr[0, 0] <{layout = #rows}> : vector<96x4xf32>, !rows
  gpu.return
}
// -----
// xegpu.update_offset
gpu.func @k(%A: memref<200xf32>, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<200xf32>, vector<96xindex> -> !desc
  %all = arith.constant dense<true> : vector<96xi1>
  %u = xegpu.update_offset %t, %two : !desc, vector<96xindex>
  %v = xegpu.load %u, %mask : !desc, vector<96xi1> -> vector<96xf32>
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.update_offset: in a loop
gpu.func @k(%A: memref<200xf32>, %R: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %two = arith.constant dense<2> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %two : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<200xf32>, vector<96xindex> -> !desc
  %all = arith.constant dense<true> : vector<96xi1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant dense<1> : vector<96xindex>
  %zero = arith.constant dense<0.0> : vector<96xf32>
  %v, %end = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %zero, %d = %t) -> (vector<96xf32>, !desc) {
    %x = xegpu.load %d, %mask : !desc, vector<96xi1> -> vector<96xf32>
    %more = arith.addf %sum, %x : vector<96xf32>
    %next = xegpu.update_offset %d, %one : !desc, vector<96xindex>
    scf.yield %more, %next : vector<96xf32>, !desc
  }
  xegpu.store %v, %R[%i], %all <{layout = #line}> : vector<96xf32>, memref<96xf32>, vector<96xindex>, vector<96xi1>
  gpu.return
}
// -----
// xegpu.update_offset: chunk_size
gpu.func @k(%A: memref<800xf32>, %R: memref<96x4xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %eight = arith.constant dense<8> : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %at = arith.muli %i, %eight : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %A, %at : memref<800xf32>, vector<96xindex> -> !chunks
  %tr = xegpu.create_nd_tdesc %R : memref<96x4xf32> -> !rows
  %u = xegpu.update_offset %t, %eight : !chunks, vector<96xindex>
  %v = xegpu.load %u, %mask : !chunks, vector<96xi1> -> vector<96x4xf32>
  xegpu.store_nd %v, %tr[0, 0] <{layout = #rows}> : vector<96x4xf32>, !rows
  gpu.return
}
// -----
// xegpu.atomic_rmw: $KIND f32
// KIND = addf mulf maximumf minimumf maxnumf minnumf assign
// tolerance 1e-6
gpu.func @k(%A: memref<96xf32>, %R: memref<96xf32>, %O: memref<96xf32>) kernel {
  %i = vector.step : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %i : memref<96xf32>, vector<96xindex> -> !xegpu.tensor_desc<96xf32, #xegpu.scatter_tdesc_attr<>, #line>
  %ta = xegpu.create_nd_tdesc %A : memref<96xf32> -> !xegpu.tensor_desc<96xf32>
  %to = xegpu.create_nd_tdesc %O : memref<96xf32> -> !xegpu.tensor_desc<96xf32>
  %v = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<96xf32> -> vector<96xf32>
  %old = xegpu.atomic_rmw $KIND %t, %mask, %v : !xegpu.tensor_desc<96xf32, #xegpu.scatter_tdesc_attr<>, #line>, vector<96xi1>, vector<96xf32> -> vector<96xf32>
  %zero = arith.constant dense<0.0> : vector<96xf32>
  %kept = arith.select %mask, %old, %zero : vector<96xi1>, vector<96xf32>
  xegpu.store_nd %kept, %to[0] <{layout = #line}> : vector<96xf32>, !xegpu.tensor_desc<96xf32>
  gpu.return
}
// -----
// xegpu.atomic_rmw: $KIND i32
// KIND = addi muli maxs maxu mins minu andi ori xori assign
gpu.func @k(%A: memref<96xi32>, %R: memref<96xi32>, %O: memref<96xi32>) kernel {
  %i = vector.step : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %i : memref<96xi32>, vector<96xindex> -> !xegpu.tensor_desc<96xi32, #xegpu.scatter_tdesc_attr<>, #line>
  %ta = xegpu.create_nd_tdesc %A : memref<96xi32> -> !xegpu.tensor_desc<96xi32>
  %to = xegpu.create_nd_tdesc %O : memref<96xi32> -> !xegpu.tensor_desc<96xi32>
  %v = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<96xi32> -> vector<96xi32>
  %old = xegpu.atomic_rmw $KIND %t, %mask, %v : !xegpu.tensor_desc<96xi32, #xegpu.scatter_tdesc_attr<>, #line>, vector<96xi1>, vector<96xi32> -> vector<96xi32>
  %zero = arith.constant dense<0> : vector<96xi32>
  %kept = arith.select %mask, %old, %zero : vector<96xi1>, vector<96xi32>
  xegpu.store_nd %kept, %to[0] <{layout = #line}> : vector<96xi32>, !xegpu.tensor_desc<96xi32>
  gpu.return
}
// -----
// xegpu.atomic_rmw: $KIND i64
// KIND = addi
gpu.func @k(%A: memref<96xi64>, %R: memref<96xi64>, %O: memref<96xi64>) kernel {
  %i = vector.step : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %i : memref<96xi64>, vector<96xindex> -> !xegpu.tensor_desc<96xi64, #xegpu.scatter_tdesc_attr<>, #line>
  %ta = xegpu.create_nd_tdesc %A : memref<96xi64> -> !xegpu.tensor_desc<96xi64>
  %to = xegpu.create_nd_tdesc %O : memref<96xi64> -> !xegpu.tensor_desc<96xi64>
  %v = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<96xi64> -> vector<96xi64>
  %old = xegpu.atomic_rmw $KIND %t, %mask, %v : !xegpu.tensor_desc<96xi64, #xegpu.scatter_tdesc_attr<>, #line>, vector<96xi1>, vector<96xi64> -> vector<96xi64>
  %zero = arith.constant dense<0> : vector<96xi64>
  %kept = arith.select %mask, %old, %zero : vector<96xi1>, vector<96xi64>
  xegpu.store_nd %kept, %to[0] <{layout = #line}> : vector<96xi64>, !xegpu.tensor_desc<96xi64>
  gpu.return
}
// -----
// xegpu.atomic_rmw: $KIND f64
// KIND = addf
// tolerance 1e-6
gpu.func @k(%A: memref<96xf64>, %R: memref<96xf64>, %O: memref<96xf64>) kernel {
  %i = vector.step : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %i : memref<96xf64>, vector<96xindex> -> !xegpu.tensor_desc<96xf64, #xegpu.scatter_tdesc_attr<>, #line>
  %ta = xegpu.create_nd_tdesc %A : memref<96xf64> -> !xegpu.tensor_desc<96xf64>
  %to = xegpu.create_nd_tdesc %O : memref<96xf64> -> !xegpu.tensor_desc<96xf64>
  %v = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<96xf64> -> vector<96xf64>
  %old = xegpu.atomic_rmw $KIND %t, %mask, %v : !xegpu.tensor_desc<96xf64, #xegpu.scatter_tdesc_attr<>, #line>, vector<96xi1>, vector<96xf64> -> vector<96xf64>
  %zero = arith.constant dense<0.0> : vector<96xf64>
  %kept = arith.select %mask, %old, %zero : vector<96xi1>, vector<96xf64>
  xegpu.store_nd %kept, %to[0] <{layout = #line}> : vector<96xf64>, !xegpu.tensor_desc<96xf64>
  gpu.return
}
// -----
// xegpu.atomic_rmw: elements at one place
// groups 3
gpu.func @k(%A: memref<96xi32>, %R: memref<32xi32>) kernel {
  %i = vector.step : vector<96xindex>
  %most = arith.constant dense<75> : vector<96xindex>
  %three = arith.constant dense<3> : vector<96xindex>
  %at = arith.divui %i, %three : vector<96xindex>
  %mask = arith.cmpi ult, %i, %most : vector<96xindex>
  %t = xegpu.create_tdesc %R, %at : memref<32xi32>, vector<96xindex> -> !xegpu.tensor_desc<96xi32, #xegpu.scatter_tdesc_attr<>, #line>
  %ta = xegpu.create_nd_tdesc %A : memref<96xi32> -> !xegpu.tensor_desc<96xi32>
  %v = xegpu.load_nd %ta[0] <{layout = #line}> : !xegpu.tensor_desc<96xi32> -> vector<96xi32>
  %old = xegpu.atomic_rmw addi %t, %mask, %v : !xegpu.tensor_desc<96xi32, #xegpu.scatter_tdesc_attr<>, #line>, vector<96xi1>, vector<96xi32> -> vector<96xi32>
  gpu.return
}
