// The link on the device, for all kernels that need residuals.

// A piecewise linear link, constant beyond its ends: one record per corner, and an even grid that says from
// which record to look on.
struct Corner {
    double x, y, slope, next_x;
};

struct Link {
    Corner *corners;       // made on the device of
    const double *points;  // what was sent: x of all points, then y, each with room for n_points
    int *first;
    int n_corners, n_cells;  // no corners: the residual is the index less `centre`
    double cells_per_unit, centre;
};

__device__ __forceinline__ double link_less_y(const Link &link, double index, double y) {
    if (link.n_corners == 0) return index - link.centre;
    int last = link.n_corners - 1;
    int cell = (int)fmin(fmax((index - link.corners[0].x) * link.cells_per_unit, 0.0), link.n_cells - 1.0);
    int k = link.first[cell];
    Corner at = link.corners[k];
    // The grid only says where to look: rounding may put the index into the next cell.
    while (index < at.x && k > 0) at = link.corners[--k];
    while (index >= at.next_x && k < last) at = link.corners[++k];
    double value = at.y;
    if (index > at.x && k < last) value = at.y + at.slope * (index - at.x);
    return value - y;
}

// Makes the corners of the points that were sent, and the grid that says where to look: one block for each link.
extern "C" __global__ void __launch_bounds__(1024) make_links(Link *__restrict__ links, int n_points) {
    const Link link = links[blockIdx.x];
    if (link.n_corners == 0) return;
    const double *x = link.points, *y = x + n_points;
    const int last = link.n_corners - 1;
    for (int k = threadIdx.x; k <= last; k += 1024) {
        // A jump too steep for a number is not between any two indices that differ in it.
        const double slope = k < last ? fmin((y[k + 1] - y[k]) / (x[k + 1] - x[k]), 1.7976931348623157e308) : 0;
        link.corners[k] = {x[k], y[k], slope, k < last ? x[k + 1] : 1.0 / 0.0};
    }
    const double begin = x[0], range = x[last] - begin, width = range / link.n_cells;
    if (threadIdx.x == 0) links[blockIdx.x].cells_per_unit = range > 0 ? link.n_cells * (1 / range) : 0;
    for (int cell = threadIdx.x; cell < link.n_cells; cell += 1024) {
        const double at = begin + width * cell;
        int low = 0, high = link.n_corners;  // points before low are not behind `at`, those from high on are
        while (low < high) {
            int middle = (low + high) / 2;
            if (x[middle] <= at)
                low = middle + 1;
            else
                high = middle;
        }
        link.first[cell] = max(min(low - 1, last - 1), 0);
    }
}
