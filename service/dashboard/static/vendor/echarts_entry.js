// What of ECharts the charts use; vendor/README.md says how the bundle beside this file is made of it.
import { init, use } from "echarts/core";
import { BarChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent, ParallelComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([
  BarChart,
  HeatmapChart,
  LineChart,
  ParallelChart,
  ScatterChart,
  DataZoomInsideComponent,
  GridComponent,
  ParallelComponent,
  CanvasRenderer,
]);

export { init };
