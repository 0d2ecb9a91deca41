// The tab's own storage outlasts a reload and a part that is taken off the page. Browsers may refuse it (private
// windows, full); then what would be kept lasts as long as it is shown, and nothing else is lost.

export function recalled(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null");
  } catch (error) {
    console.info(`Nothing of ${name} can be brought back: ${String(error)}`);
    return null;
  }
}

export function keep(name: string, what: unknown): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(what));
  } catch (error) {
    console.info(`${name} will not outlast what shows it: ${String(error)}`);
  }
}
