// Whether the page shows what the browser's address says; if it does not for a while, Python hears of it, once, by a
// message that carries the address as all of Streamlit's do: one of ours could be older than that, and undo a Back.
// What Streamlit keeps in an address for itself (?embed=true) is no part of that.

const PATIENCE = 800; // milliseconds in which a run that is under way may bring page and address together
const sorted = (query) => JSON.stringify(Object.entries(query ?? {}).sort());
let said = ""; // the address that Python was told of; a page that differs from it still would ask without end
let stop = () => {}; // the call before this one: Streamlit does not end it when the data changes

export default function ({ data, setTriggerValue }) {
  stop();
  const differing = () => {
    const all = [...new URLSearchParams(window.location.search)];
    const address = sorted(Object.fromEntries(all.filter(([name]) => !/^embed(_options)?$/i.test(name))));
    return address === sorted(data) ? "" : address;
  };
  const compare = () => {
    const address = differing();
    if (address && said !== address) setTriggerValue("differs", true);
    said = address;
  };
  if (!differing()) said = ""; // mended: the same address may get lost again
  let timer;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(compare, PATIENCE);
  };
  const end = () => {
    clearTimeout(timer);
    window.removeEventListener("popstate", later);
  };
  later();
  window.addEventListener("popstate", later);
  stop = end;
  return end;
}
