// Counts the clicks of a person in a page, also over its reloads.
addEventListener("click", (event) => {
  if (event.isTrusted && event.detail > 0) {
    sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks") ?? 0) + 1);
  }
}, true);
