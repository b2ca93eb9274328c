// A form that predicts as the model does: index by weights, prediction by the curve.
(() => {
  const holder = document.getElementById("form-model");
  if (!holder) return;
  const model = JSON.parse(holder.textContent);
  const { inputs, outputs } = model;
  const isNumber = model.kind === "regression";
  const find = (selector) => document.querySelector(`#whatif ${selector}`);
  // A number, the number of a category (-1: none that is known), or null for a missing value.
  let values = inputs.map((input) => input.start);
  let shown = 0;

  // ---------------------------------------------------------------- the model

  const filled = (input, value) => value === null ? input.fill : value;
  const parts = (input, value) => {
    const x = filled(input, value);
    if (input.kind !== "category") return input.weights.map((w) => w * x);
    return x < 0 ? outputs.map(() => 0) : input.weights[x];
  };
  const known = { identity: (x) => x, logistic: (x) => 1 / (1 + Math.exp(-x)), tanh: Math.tanh };
  const follow = ({ x, y, type, offset }, at) => {
    if (type) return known[type](at + offset);
    if (at <= x[0]) return y[0];
    if (at >= x[x.length - 1]) return y[y.length - 1];
    let low = 0, high = x.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (x[middle] <= at) low = middle; else high = middle;
    }
    return y[low] + (y[high] - y[low]) * ((at - x[low]) / (x[high] - x[low]));
  };
  const within = (value, low, high) => Math.min(Math.max(value, low), high);
  const predict = () => {
    const index = outputs.map((output) => output.intercept);
    inputs.forEach((input, i) => parts(input, values[i]).forEach((part, k) => { index[k] += part; }));
    const curve = outputs.map((output, k) => follow(output.link, index[k]));
    if (isNumber) return { index, curve, value: curve };
    if (model.kind !== "multiclass") return { index, curve, value: curve.map((p) => within(p, 0, 1)) };
    const most = model.coupled ? 1 - model.certain : 1;
    let scores = curve.map((p) => within(p, model.certain, most));
    if (model.coupled) scores = scores.map((p) => p / (1 - p));
    const sum = scores.reduce((a, b) => a + b);
    return { index, curve, value: scores.map((p) => p / sum) };
  };

  // ---------------------------------------------------------------- words

  const figures = (value, most = 4) => {
    if (Math.abs(value) < 1e-12) return "0";
    const how = Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: most };
    return value.toLocaleString("en-US", how).replace("-", "−");
  };
  const percent = (p) => {
    const digits = p > 0 && p < 0.001 ? { maximumSignificantDigits: 1 } : { minimumFractionDigits: 1, maximumFractionDigits: 1 };
    return `${(100 * p).toLocaleString("en-US", digits)} %`;
  };
  const asDate = (days) => new Date(Math.floor(days) * 864e5).toISOString().slice(0, 10);
  const said = (input, value) => {
    if (value === null) return `missing, taken as ${said(input, input.fill)}`;
    if (input.kind === "category") return value < 0 ? "another value" : input.values[value];
    return input.kind === "date" ? asDate(value) : figures(value, 6);
  };
  const element = (name, settings = {}, children = []) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(settings)) {
      if (key in made) made[key] = value; else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };

  // ---------------------------------------------------------------- controls

  // To the step of the slider, so that what is read is what is used.
  const stepped = (input, value) =>
    within(Number((Math.round(value / input.step) * input.step).toPrecision(12)), input.low, input.high);
  const makeNumber = (input, i, id) => {
    const slider = element("input", {
      type: "range", id, min: input.low, max: input.high,
      step: input.step === 1 ? 1 : "any",
    });
    if (input.step === 1) slider.min = Math.floor(input.low);
    const exact = element("input", {
      type: input.kind === "date" ? "date" : "number", "aria-label": `${input.name}, exact value`,
    });
    if (input.kind !== "date") exact.step = "any";
    slider.addEventListener("input", () => change(i, stepped(input, Number(slider.value))));
    exact.addEventListener("input", () => {
      const value = input.kind === "date" ? exact.valueAsNumber / 864e5 : exact.valueAsNumber;
      if (Number.isFinite(value)) change(i, value, exact);
    });
    const show = (value, source) => {
      const x = filled(input, value);
      slider.value = x;
      slider.setAttribute("aria-valuetext", said(input, value));
      if (source !== exact) exact.value = input.kind === "date" ? asDate(x) : Number(x.toPrecision(12));
      slider.disabled = exact.disabled = value === null;
    };
    return { parts: [slider, exact], show };
  };
  const makeCategory = (input, i, id) => {
    const options = [...input.values.map((text, k) => [k, text]), [-1, "(another value)"]];
    const choice = element("select", { id }, options.map(([k, text]) => element("option", { value: k, textContent: text })));
    choice.addEventListener("change", () => change(i, Number(choice.value)));
    const show = (value) => {
      choice.value = filled(input, value);
      choice.disabled = value === null;
    };
    return { parts: [choice], show };
  };
  const makeControl = (input, i) => {
    const id = `form-${i}`;
    const made = (input.kind === "category" ? makeCategory : makeNumber)(input, i, id);
    const label = element("label", { htmlFor: id, textContent: input.name, title: input.name });
    const row = element("div", { className: `control ${input.kind}` }, [label, ...made.parts]);
    if (input.fill === null) return { row, show: made.show };
    const tick = element("input", { type: "checkbox" });
    tick.setAttribute("aria-label", `${input.name} is missing`);
    tick.addEventListener("change", () => change(i, tick.checked ? null : input.fill));
    row.append(element("label", { className: "tick" }, [tick, " missing"]));
    return { row, show: (value, source) => { made.show(value, source); tick.checked = value === null; } };
  };
  const controls = inputs.slice(0, model.controls).map(makeControl);
  controls.forEach(({ row }, i) => find(i < model.shown ? ".controls" : ".more-controls").append(row));
  find(".more").hidden = controls.length <= model.shown;
  const left = inputs.length - controls.length;
  find(".left").textContent = left ? `${left.toLocaleString("en-US")} more features in use keep their mean, unless a pasted row has them.` : "";

  // ---------------------------------------------------------------- answers

  const picker = find(".which");
  picker.append(...outputs.map((output, k) => element("option", { value: k, textContent: output.name })));
  picker.parentElement.hidden = outputs.length === 1;
  picker.addEventListener("change", () => { shown = Number(picker.value); update(); });
  const answers = find(".answers tbody");
  answers.append(...outputs.map((output) => element("tr", {}, [
    element("th", { scope: "row", textContent: output.name }), element("td"), element("td"),
  ])));

  const move = ({ index, curve }) => {
    document.querySelectorAll("#whatif .place").forEach((figure, k) => {
      figure.hidden = k !== shown;
      const marker = figure.querySelector(".marker"), [line, dot] = marker.children;
      const [a, b, low, high] = marker.dataset.x.split(" ").map(Number);
      const [c, d, bottom, top] = marker.dataset.y.split(" ").map(Number);
      const x = a + b * within(index[k], low, high), y = c + d * within(curve[k], bottom, top);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", y);
      figure.querySelector(".reading").textContent = `index ${figures(index[k])} → ${figures(curve[k])} on the curve`;
    });
  };
  const addRow = (name, value, amount, largest) => {
    const width = `width:${(50 * Math.abs(amount) / (largest || 1)).toFixed(1)}%`;
    const bar = element("i", { className: amount < 0 ? "down" : "up" });
    bar.setAttribute("style", `${amount < 0 ? "right" : "left"}:50%;${width}`);
    return element("tr", {}, [
      element("th", { scope: "row", textContent: name, title: name }),
      element("td", { textContent: value, className: "said" }),
      element("td", { "data-value": amount }, [
        element("span", { className: "bar" }, largest === null ? [] : [bar]),
        element("span", { textContent: figures(amount) }),
      ]),
    ]);
  };
  const explain = (index) => {
    const added = inputs.map((input, i) => parts(input, values[i])[shown] - input.centre[shown]);
    const order = added.map((_, i) => i).sort((i, j) => Math.abs(added[j]) - Math.abs(added[i]));
    const top = order.slice(0, 10), rest = order.slice(10);
    const largest = Math.abs(added[order[0]]);
    const base = index[shown] - added.reduce((a, b) => a + b);
    const rows = [addRow("the mean row", "", base, null)];
    rows.push(...top.map((i) => addRow(inputs[i].name, said(inputs[i], values[i]), added[i], largest)));
    if (rest.length) rows.push(addRow(`${rest.length} others`, "", rest.reduce((a, i) => a + added[i], 0), largest));
    rows.push(addRow("index", "", index[shown], null));
    find(".parts tbody").replaceChildren(...rows);
    find(".parts caption").textContent = `What adds up to the index of ${outputs[shown].name}`;
  };
  const odd = () => inputs.flatMap((input, i) => {
    const value = values[i];
    if (value === null || input.kind === "category") return [];
    if (value >= input.low && value <= input.high) return [];
    return [`${input.name} ${said(input, value)} lies beyond the training rows (${said(input, input.low)} to ${said(input, input.high)}).`];
  });
  const update = () => {
    const found = predict();
    [...answers.rows].forEach((row, k) => {
      row.cells[1].textContent = figures(found.index[k]);
      row.cells[1].dataset.value = found.index[k];
      row.cells[2].textContent = isNumber ? figures(found.value[k], 5) : percent(found.value[k]);
      row.cells[2].dataset.value = found.value[k];
    });
    let verdict = outputs.map((output, k) => `${output.name}: ${answers.rows[k].cells[2].textContent}`).join("; ");
    if (model.kind === "binary") {
      const yes = found.value[0] > model.threshold;
      verdict += `, called ${model.classes[Number(yes)]} (${yes ? "above" : "not above"} ${figures(model.threshold, 3)})`;
    } else if (model.kind === "multiclass") {
      const likeliest = found.value.indexOf(Math.max(...found.value));
      verdict = `${outputs[likeliest].name} is the likeliest: ${percent(found.value[likeliest])}`;
    }
    find(".verdict").textContent = verdict;
    find(".odd").textContent = odd().join(" ");
    move(found);
    explain(found.index);
  };
  const change = (i, value, source = null) => {
    values[i] = value;
    if (i < controls.length) controls[i].show(value, source);
    update();
  };
  const setAll = (next) => {
    values = next;
    controls.forEach(({ show }, i) => show(values[i]));
    update();
  };

  // ---------------------------------------------------------------- a pasted row

  const missing = new Set(["", "na", "n/a", "#n/a", "#na", "<na>", "nan", "-nan", "null", "none"]);
  const cells = (line, separator) => {
    const found = [""];
    let quoted = false;
    for (let i = 0; i < line.length; i += 1) {
      const last = found.length - 1, mark = line[i];
      if (quoted && mark === '"' && line[i + 1] === '"') found[last] += line[i += 1];
      else if (quoted && mark === '"') quoted = false;
      else if (!quoted && mark === '"' && !found[last].trim()) quoted = true;
      else if (!quoted && mark === separator) found.push("");
      else found[last] += mark;
    }
    return found.map((text) => text.trim());
  };
  const readNumber = (text) => {
    // 1,500 is 1500 to some and 1.5 to others.
    if (/^[-+]?\d+,(\d{1,2}|\d{4,})$/.test(text)) return Number(text.replace(",", "."));
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN;
  };
  const readDate = (text, order) => {
    const first = text.match(/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]+(.*))?$/);
    const last = text.match(/^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?:[T ,]+(.*))?$/);
    if (!first && !last) return NaN;
    let [year, month, day, time] = first ? first.slice(1) : [last[3], last[2], last[1], last[4]];
    if (last && order === "month-first") [day, month] = [month, day];
    if (year.length === 2) year = Number(year) + (Number(year) < 70 ? 2000 : 1900);
    const clock = (time || "00:00").match(/^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(?:Z|\+00:?00)?$/);
    const date = new Date(Date.UTC(year, month - 1, day));
    if (!clock || date.getUTCMonth() !== month - 1) return NaN;
    return date.getTime() / 864e5 + (clock[1] * 3600 + clock[2] * 60 + Number(clock[3] || 0)) / 86400;
  };
  const readCategory = (input, text) => {
    const at = input.values.indexOf(text);
    // 1.0 and 1 are the same code.
    return at < 0 && text !== "" && Number.isInteger(Number(text)) ? input.values.indexOf(String(Number(text))) : at;
  };
  const readValue = (input, text) => {
    const category = input.kind === "category" ? readCategory(input, text) : -1;
    if (category >= 0) return category;
    if (missing.has(text.toLowerCase())) {
      if (input.fill === null) throw new Error(`${input.name} is missing, and the model needs it.`);
      return null;
    }
    if (input.kind === "category") return -1;
    const value = input.kind === "date" ? readDate(text, input.order) : readNumber(text);
    if (!Number.isFinite(value)) throw new Error(`${input.name}: ${JSON.stringify(text)} is no ${input.kind}.`);
    return value;
  };
  const readRow = (text) => {
    const lines = text.split(/\r?\n/).filter((line) => line.trim());
    if (!lines.length) throw new Error("There is nothing to read.");
    const separator = ["\t", ";", ","].find((mark) => lines[0].replace(/"[^"]*"/g, "").includes(mark)) || ",";
    const row = cells(lines[lines.length > 1 ? 1 : 0], separator);
    if (lines.length === 1) {
      if (row.length !== model.columns) {
        const names = model.first.join(", ") + (model.columns > model.first.length ? ", …" : "");
        throw new Error(`${row.length} values for ${model.columns} columns (${names}); paste the line of names above them too.`);
      }
      return inputs.map((input) => readValue(input, row[input.place]));
    }
    const names = cells(lines[0], separator);
    if (row.length !== names.length) throw new Error(`${names.length} names and ${row.length} values.`);
    const absent = inputs.filter((input) => !names.includes(input.name)).map((input) => input.name);
    if (absent.length) throw new Error(`There is no column ${absent.slice(0, 5).join(", ")}${absent.length > 5 ? ", …" : ""}.`);
    return inputs.map((input) => readValue(input, row[names.indexOf(input.name)]));
  };
  find(".read").addEventListener("click", () => {
    const note = find(".pasted");
    try {
      setAll(readRow(find("textarea").value));
      note.textContent = "The row is filled in.";
    } catch (error) {
      note.textContent = error.message;
    }
  });
  find(".reset").addEventListener("click", () => setAll(inputs.map((input) => input.start)));
  find(".whatif").hidden = false;
  setAll(values);
})();
