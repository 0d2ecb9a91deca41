// Keys of the whole page. A digit follows a link and "?" shows the sheet, both here; the others become commands.

const COMMANDS = {
  "]": "image+1", PageDown: "image+1", "[": "image-1", PageUp: "image-1",
  ".": "class+1", ",": "class-1",
  "+": "T+1", "=": "T+1", "-": "T-1", "−": "T-1",
  p: "present", P: "present",
};
const QUIET = 250; // milliseconds without another size of the window before Python hears of it
const FIELDS = "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select";

// Commands that Python has not heard of yet, each with a number that only grows. One batch is on its way at a time, so
// that a page is drawn between two presses; should nobody answer, all of them are sent again.
const PATIENCE = 4000; // milliseconds after which nobody will answer
let waiting = [], sent = 0, sentAt = 0;

const mounted = new WeakMap(); // by the element that Streamlit mounts the component in: what ends its last call

// Streamlit calls this again whenever data or theme changes: the call before it must stop listening first.
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  mounted.get(parentElement)?.abort();
  const listening = new AbortController();
  mounted.set(parentElement, listening);
  const { signal } = listening;
  waiting = waiting.filter(([number]) => number > data.heard);
  let again;
  signal.addEventListener("abort", () => clearTimeout(again));
  const flush = () => {
    if (!waiting.length) return;
    clearTimeout(again);
    if (sent <= data.heard || performance.now() - sentAt >= PATIENCE) {
      [sent, sentAt] = [waiting.at(-1)[0], performance.now()];
      setTriggerValue("commands", waiting);
    }
    again = setTimeout(flush, PATIENCE);
  };
  const send = (command) => {
    waiting.push([Math.max(Date.now(), 1 + (waiting.at(-1)?.[0] ?? 0)), command]);
    flush();
  };
  flush(); // what was pressed while the last batch was on its way
  const sheet = parentElement.querySelector("dialog");
  const bar = parentElement.querySelector(".bar");
  const showSheet = () => (sheet.open ? sheet.close() : sheet.showModal());
  bar.hidden = !data.presenting;
  bar.querySelector(".help").addEventListener("click", showSheet, { signal });
  bar.querySelector(".leave").addEventListener("click", () => send("present"), { signal });

  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event, data.presenting)) return;
    if (event.key === "?") {
      showSheet();
    } else if (sheet.open || document.querySelector('[role="dialog"]')) {
      return;
    } else if (/^[1-9]$/.test(event.key)) {
      document.querySelectorAll(".st-key-pages a")[Number(event.key) - 1]?.click();
    } else if (Object.hasOwn(COMMANDS, event.key)) {
      if (!event.repeat) send(COMMANDS[event.key]);
    } else {
      return;
    }
    event.preventDefault(); // the page neither scrolls nor moves a slider
    event.stopImmediatePropagation();
  };
  window.addEventListener("keydown", press, { signal, capture: true });

  if (data.presenting) {
    const size = () => [window.innerWidth, window.innerHeight];
    const tell = () => String(size()) !== String(data.screen) && setStateValue("screen", size());
    let timer = setTimeout(tell, 0);
    const resized = () => {
      clearTimeout(timer);
      timer = setTimeout(tell, QUIET);
    };
    window.addEventListener("resize", resized, { signal });
    signal.addEventListener("abort", () => clearTimeout(timer));
  }
  return () => listening.abort();
}

/** Whether the key belongs to what has the focus: a field that takes text, or a slider that pages. */
function isTyping(event, presenting) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return false;
  if (target.isContentEditable || target.matches(FIELDS)) return true;
  // Clickers send Page Up and Page Down, and a speaker has mostly moved a slider before.
  return !presenting && event.key.startsWith("Page") && target.matches("input[type=range], [role=slider]");
}
