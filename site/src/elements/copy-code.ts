/** Adds a button to every block of code that puts it on the clipboard. */
for (const pre of document.querySelectorAll(".prose pre")) {
  const frame = document.createElement("div");
  const button = document.createElement("button");
  frame.className = "code";
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(pre.textContent ?? "").then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "Not allowed"),
    );
  });
  pre.replaceWith(frame);
  frame.append(pre, button);
}
