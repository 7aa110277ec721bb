// Before the first paint: the theme that was chosen here, so that nothing flashes, and the width
// of the window for the server, which puts the worst queue first on a phone.
{
  const root = document.documentElement;
  const known = ["dark", "light", "system"];
  let chosen = "dark";
  try {
    chosen = localStorage.getItem("echomq-theme") ?? chosen;
  } catch {
    // A browser may forbid storage; the theme then lasts for one page.
  }
  root.dataset.theme = known.includes(chosen) ? chosen : "dark";
  const narrow = matchMedia("(max-width: 720px)");
  const note = () => {
    const kept = `path=${root.dataset.root};max-age=31536000;samesite=lax`;
    document.cookie = `echomq_narrow=${narrow.matches ? 1 : 0};${kept}`;
  };
  note();
  narrow.addEventListener("change", note);
}
