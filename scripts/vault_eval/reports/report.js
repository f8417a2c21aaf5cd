"use strict";
// Adds sorting and filtering to the table of queries. Text of notes is only ever read and set as text.
(() => {
  const table = document.querySelector(".queries");
  if (!table) return;
  const bodies = [...table.tBodies];
  const original = new Map(bodies.map((body, place) => [body, place]));
  const cell = (body, column) => body.rows[0].cells[column].textContent.trim();
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const categories = table.tHead.querySelector(".category").cellIndex;
  const controls = document.getElementById("controls");
  const status = document.getElementById("shown");
  const search = document.getElementById("search");
  const selects = [...controls.querySelectorAll("select")];
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const texts = new Map();

  const textOf = (body) => {
    if (!texts.has(body)) texts.set(body, plain(body.textContent));
    return texts.get(body);
  };

  const fits = (body) =>
    selects.every((select) => {
      if (!select.selectedIndex) return true;
      if (select.id === "by-category") return cell(body, categories) === select.value;
      return (body.dataset[select.dataset.of] || "").split(" ").includes(select.value);
    }) && plain(search.value).split(/\s+/).every((word) => textOf(body).includes(word));

  const filter = () => {
    let shown = 0;
    for (const body of bodies) {
      body.hidden = !fits(body);
      if (!body.hidden) shown += 1;
    }
    status.textContent = `${shown} of ${bodies.length} queries shown`;
  };

  const compare = (column, numeric, sign) => (one, other) => {
    const [a, b] = [cell(one, column), cell(other, column)];
    if (!numeric) {
      if (!a !== !b) return a ? -1 : 1;
      return sign * collator.compare(a, b) || original.get(one) - original.get(other);
    }
    const [x, y] = [parseFloat(a), parseFloat(b)];
    if (Number.isFinite(x) !== Number.isFinite(y)) return Number.isFinite(x) ? -1 : 1;
    return (Number.isFinite(x) ? sign * (x - y) : 0) || original.get(one) - original.get(other);
  };

  const heads = [...table.tHead.rows[0].cells];
  const sort = (column) => {
    const head = heads[column];
    const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
    for (const one of heads) one.setAttribute("aria-sort", one === head ? next : "none");
    const order =
      next === "none"
        ? (one, other) => original.get(one) - original.get(other)
        : compare(column, head.classList.contains("n"), next === "ascending" ? 1 : -1);
    table.append(...[...bodies].sort(order));
    status.textContent = next === "none" ? "in the order of the labels" : `sorted by ${head.textContent}, ${next}`;
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sort(column));
  });

  const category = document.getElementById("by-category");
  for (const name of [...new Set(bodies.map((body) => cell(body, categories)))].filter(Boolean).sort(collator.compare)) {
    category.append(new Option(name, name));
  }
  for (const select of selects) {
    select.addEventListener("change", filter);
    select.parentElement.hidden = select.options.length < 2;
  }
  search.addEventListener("input", filter);
  document.getElementById("open").addEventListener("click", () => {
    const details = bodies.filter((body) => !body.hidden).map((body) => body.querySelector("details"));
    const open = details.some((one) => !one.open);
    for (const one of details) one.open = open;
  });
  controls.hidden = false;
  filter();
})();
