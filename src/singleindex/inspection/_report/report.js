"use strict";
// Sort a table by the column whose head is pressed: largest first, then the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const upwards = head.getAttribute("aria-sort") === (head.className === "text" ? "none" : "descending")
      || (head.className === "text" && head.getAttribute("aria-sort") === "descending");
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
    const value = (row) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const x = value(a), y = value(b);
      return (upwards ? 1 : -1) * (typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y);
    });
    table.tBodies[0].append(...rows);
  }));
}
// Walk along a curve with the pointer or the arrow keys, and read its values below it.
for (const chart of document.querySelectorAll("svg[data-cursor]")) {
  const points = JSON.parse(chart.dataset.cursor);
  const cursor = chart.querySelector(".cursor");
  const [line, dot] = cursor.children;
  const reading = chart.parentElement.querySelector(".reading");
  let at = Math.floor(points.length / 2);
  const show = (i) => {
    at = Math.max(0, Math.min(points.length - 1, i));
    const [x, y, label] = points[at];
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    cursor.removeAttribute("hidden");
    reading.textContent = label;
  };
  const hide = () => {
    cursor.setAttribute("hidden", "");
    reading.textContent = "";
  };
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * chart.viewBox.baseVal.width;
    let best = 0;
    points.forEach((point, i) => { if (Math.abs(point[0] - x) < Math.abs(points[best][0] - x)) best = i; });
    show(best);
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("focus", () => { if (chart.matches(":focus-visible")) show(at); });
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -points.length, End: points.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(at + step);
  });
}
// What is folded away on the screen belongs on paper.
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
