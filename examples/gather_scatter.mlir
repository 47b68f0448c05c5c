// Y[2 * i] = X[255 - i] + 1 for the first `n` of 256 elements: a work-group gathers 32 elements by their indices and
// scatters them. What the mask leaves out is not touched.
//
// xetune run examples/gather_scatter.mlir --grid 8 --arg n=200 --in X=x.npy --out Y=y.npy

#scattered = #xetile.tile_attr<scattered = true>

gpu.module @kernels {
  gpu.func @reverse(%X: memref<256xf32>, %Y: memref<512xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c32 = arith.constant 32 : index
    %id = gpu.block_id x
    %first = arith.muli %id, %c32 : index
    %steps = vector.step : vector<32xindex>
    %firsts = vector.broadcast %first : index to vector<32xindex>
    %flat = arith.addi %firsts, %steps : vector<32xindex>
    %i = vector.shape_cast %flat : vector<32xindex> to vector<1x32xindex>
    %last = arith.constant dense<255> : vector<1x32xindex>
    %from = arith.subi %last, %i : vector<1x32xindex>
    %to = arith.addi %i, %i : vector<1x32xindex>
    %limit = vector.broadcast %n : index to vector<1x32xindex>
    %mask = arith.cmpi slt, %i, %limit : vector<1x32xindex>
    %xt = xetile.init_tile %X, %from : memref<256xf32>, vector<1x32xindex> -> !xetile.tile<1x32xf32, #scattered>
    %x = xetile.load %xt, %mask {padding = 0.0 : f32} : !xetile.tile<1x32xf32, #scattered>, vector<1x32xi1> -> vector<1x32xf32>
    %one = arith.constant dense<1.0> : vector<1x32xf32>
    %y = arith.addf %x, %one : vector<1x32xf32>
    %yt = xetile.init_tile %Y, %to : memref<512xf32>, vector<1x32xindex> -> !xetile.tile<1x32xf32, #scattered>
    xetile.store %y, %yt, %mask : vector<1x32xf32>, !xetile.tile<1x32xf32, #scattered>, vector<1x32xi1>
    gpu.return
  }
}
