// Four sub-groups that meet at a barrier of their own.
// OUTCOME: fails xegpu.alloc_nbarrier

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      xegpu.alloc_nbarrier 2
      %id = arith.constant 1 : i8
      %participants = arith.constant 4 : i8
      %barrier = xegpu.init_nbarrier %id, %participants : i8, i8 -> !xegpu.nbarrier
      xegpu.nbarrier_arrive %barrier : !xegpu.nbarrier
      xegpu.nbarrier_wait %barrier : !xegpu.nbarrier
      gpu.return
    }
  }
}
