// Hides the rows of a table that do not hold the typed words; Enter asks the server, which knows
// the rows that are not drawn. Frames bring rows back, so it is applied after each.

function apply(field) {
  const wanted = field.value.trim().toLowerCase();
  for (const cell of document.querySelectorAll(field.dataset.filter)) {
    const row = cell.closest(field.dataset.row);
    row.hidden = wanted !== "" && !cell.textContent.toLowerCase().includes(wanted);
  }
}

for (const field of document.querySelectorAll("[data-filter]")) {
  field.addEventListener("input", () => apply(field));
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") {
      field.value = "";
      apply(field);
      field.blur();
    }
  });
  document.addEventListener("echomq:frame", () => apply(field));
}
