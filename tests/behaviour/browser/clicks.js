// Counts the clicks of a person in a page, also over its reloads. One that Playwright withholds at the window, because
// the page has moved under it, and repeats, does not reach the document.
document.addEventListener("click", (event) => {
  if (event.isTrusted && event.detail > 0) {
    sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks") ?? 0) + 1);
  }
}, true);
