// The link on the device, for all kernels that need residuals.

// A piecewise linear link, constant beyond its ends: one record per corner, and an even grid that says from
// which record to look on.
struct Corner {
    double x, y, slope, next_x;
};

struct Link {
    const Corner *corners;
    const int *first;
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

// Where to look on for the corner before an index: one block for each link.
extern "C" __global__ void __launch_bounds__(1024) fill_cells(const Link *__restrict__ links) {
    const Link link = links[blockIdx.x];
    if (link.n_corners == 0) return;
    const double begin = link.corners[0].x, width = (link.corners[link.n_corners - 1].x - begin) / link.n_cells;
    for (int cell = threadIdx.x; cell < link.n_cells; cell += 1024) {
        const double x = begin + width * cell;
        int low = 0, high = link.n_corners;  // corners before low are not behind x, those from high on are
        while (low < high) {
            int middle = (low + high) / 2;
            if (link.corners[middle].x <= x)
                low = middle + 1;
            else
                high = middle;
        }
        ((int *)link.first)[cell] = max(min(low - 1, link.n_corners - 2), 0);
    }
}
