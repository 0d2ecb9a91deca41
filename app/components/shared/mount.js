// What a component is in the browser: something that is made once in the element where Streamlit mounts it, hears of
// everything that Python says, and is taken down with the element.

const mounted = new WeakMap(); // element of the component -> what was made there, and how often it was updated

const FAILED = "This picture cannot be drawn here: reload the page, and if that does not help, try another browser.";

/** Make a `Kind` in an element unless there is one already, and update it; gives what takes it down. */
function mount(Kind, parent, update) {
  let place = mounted.get(parent);
  try {
    if (!place) mounted.set(parent, (place = { made: new Kind(parent), calls: 0 }));
    update(place.made);
  } catch (error) { // Streamlit would show its stack to the hall
    console.error(error);
    parent.replaceChildren(element("p", { className: "failed", role: "alert", textContent: FAILED }));
    mounted.delete(parent);
    return () => {};
  }
  const call = ++place.calls;
  // Streamlit also runs what a call that was overtaken returns: only the latest may take anything down.
  return () => {
    if (place.calls !== call) return;
    place.made.destroy();
    mounted.delete(parent);
  };
}

/**
 * A section of its own in an element, with a player perhaps; `resized` is called at first and at every other size, its
 * own or the page's: what is above it decides how much of it is on the screen.
 */
class Mounted {
  constructor(parent, properties) {
    this.root = element("section", properties);
    parent.append(this.root);
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.root);
    const page = document.querySelector(".stMainBlockContainer");
    if (page) this.watch.observe(page);
  }

  destroy() {
    this.watch.disconnect();
    this.transport?.destroy();
    this.root.remove();
  }
}
