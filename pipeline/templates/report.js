"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

  // A column answers for any row what it holds (value), how that reads (text), and what it sorts by (key).
  const columns = data.columns.map((raw) => {
    const column = { name: raw.name, title: raw.title };
    if (raw.axis) {
      const labels = raw.axis, numeric = labels.every((label) => typeof label === "number");
      const at = (row) => Math.floor(row / raw.stride) % labels.length;
      column.numeric = numeric;
      column.value = (row) => labels[at(row)];
      column.key = numeric ? column.value : at;
    } else if (raw.numbers !== undefined) {
      const numbers = new Float64Array(bytes(raw.numbers));
      column.numeric = true;
      column.value = column.key = (row) => numbers[row];
    } else {
      const codes = new Uint32Array(bytes(raw.codes));
      column.numeric = false;
      column.value = (row) => raw.words[codes[row]];
      column.key = (row) => codes[row];
    }
    column.text = (row) => {
      const value = column.value(row);
      if (typeof value !== "number") return String(value);
      if (Number.isNaN(value)) return "";
      return Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(7)));
    };
    return column;
  });
  const state = columns.find((column) => column.name === "status");

  const grid = document.getElementById("grid"), body = document.getElementById("rows");
  const above = document.querySelector("#above td"), below = document.querySelector("#below td");
  const count = document.getElementById("count");
  above.colSpan = below.colSpan = columns.length;
  const height = 30;
  let order = Uint32Array.from({ length: data.rows }, (_, row) => row);
  let shown = order, sorted = null, falling = false;

  // "=6", ">0.1", "<=3", "4..8", or a piece of text; undefined if it cannot be meant.
  const filterOf = (column, text) => {
    const wanted = text.trim();
    if (!wanted) return null;
    if (!column.numeric) {
      if (wanted.startsWith("=")) return (row) => String(column.value(row)) === wanted.slice(1).trim();
      const low = wanted.toLowerCase();
      return (row) => String(column.value(row)).toLowerCase().includes(low);
    }
    const range = wanted.match(/^(.*?)\.\.(.*)$/);
    if (range) {
      const from = range[1].trim() === "" ? -Infinity : Number(range[1]), to = range[2].trim() === "" ? Infinity : Number(range[2]);
      return Number.isNaN(from) || Number.isNaN(to) ? undefined : (row) => column.value(row) >= from && column.value(row) <= to;
    }
    const parts = wanted.match(/^(>=|<=|>|<|=)?\s*(.+)$/), number = Number(parts[2]);
    if (Number.isNaN(number)) return undefined;
    const tests = { ">": (v) => v > number, ">=": (v) => v >= number, "<": (v) => v < number, "<=": (v) => v <= number };
    const test = tests[parts[1]] || ((v) => v === number);
    return (row) => test(column.value(row));
  };

  const inputs = [];
  const apply = () => {
    const tests = [];
    inputs.forEach((input, k) => {
      const test = filterOf(columns[k], input.value);
      input.setAttribute("aria-invalid", String(test === undefined));
      if (test) tests.push(test);
    });
    shown = tests.length ? order.filter((row) => tests.every((test) => test(row))) : order;
    count.textContent = shown.length === data.rows
      ? `${data.rows.toLocaleString("en")} points`
      : `${shown.length.toLocaleString("en")} of ${data.rows.toLocaleString("en")} points`;
    grid.scrollTop = 0;
    draw(true);
  };

  const sort = (column) => {
    if (sorted === column) falling = !falling; else { sorted = column; falling = false; }
    const keys = Float64Array.from({ length: data.rows }, (_, row) => column.key(row));
    const sign = falling ? -1 : 1;
    order = Uint32Array.from({ length: data.rows }, (_, row) => row).sort((a, b) => {
      const x = keys[a], y = keys[b];
      // Rows without a number come last, whichever way the others go.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return sign * (x - y) || a - b;
    });
    document.querySelectorAll("#heads th").forEach((head, k) => {
      if (columns[k] === column) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    apply();
  };

  let first = -1;
  const draw = (anew) => {
    const room = Math.ceil(grid.clientHeight / height) + 20;
    const start = Math.max(0, Math.min(Math.floor(grid.scrollTop / height) - 10, shown.length - room));
    if (!anew && start === first) return;
    first = start;
    const rows = document.createDocumentFragment();
    for (const row of shown.subarray(start, start + room)) {
      const line = document.createElement("tr");
      if (state && state.value(row) !== "done") line.className = state.value(row);
      for (const column of columns) {
        const cell = document.createElement("td");
        cell.textContent = column.text(row);
        if (column.numeric) cell.className = "number"; else cell.title = cell.textContent;
        line.append(cell);
      }
      rows.append(line);
    }
    body.replaceChildren(rows);
    above.style.height = `${start * height}px`;
    below.style.height = `${Math.max(0, shown.length - start - room) * height}px`;
  };

  columns.forEach((column) => {
    const head = document.createElement("th"), button = document.createElement("button");
    head.scope = "col";
    button.type = "button";
    button.textContent = column.name;
    button.title = column.title;
    button.addEventListener("click", () => sort(column));
    head.append(button);
    document.getElementById("heads").append(head);
    const cell = document.createElement("td"), input = document.createElement("input");
    input.type = "search";
    input.setAttribute("aria-label", `Filter ${column.name}`);
    let waiting;
    input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
    cell.append(input);
    document.getElementById("filters").append(cell);
    inputs.push(input);
  });
  document.getElementById("clear").addEventListener("click", () => { inputs.forEach((input) => { input.value = ""; }); apply(); });
  document.getElementById("show-failed")?.addEventListener("click", () => {
    inputs[columns.indexOf(state)].value = "failed";
    apply();
  });
  let framed = false;
  grid.addEventListener("scroll", () => {
    if (!framed) { framed = true; requestAnimationFrame(() => { framed = false; draw(false); }); }
  });
  new ResizeObserver(() => draw(true)).observe(grid);

  const quoted = (value) => {
    if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
    return /[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  document.getElementById("download").addEventListener("click", () => {
    const parts = [columns.map((column) => quoted(column.name)).join(",") + "\n"];
    for (const row of shown) parts.push(columns.map((column) => quoted(column.value(row))).join(",") + "\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
    link.download = "points.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  const tip = document.getElementById("tip");
  document.querySelectorAll(".tip > title").forEach((title) => {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  });
  const point = (event) => {
    const part = event.target.closest?.(".tip");
    tip.hidden = !part;
    if (!part) return;
    tip.textContent = part.dataset.tip;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const y = event.clientY + 20 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${y}px`;
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  apply();
})();
