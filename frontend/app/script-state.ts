// What Streamlit says of the script of the page.

/** Whether no run of it is under way or asked for: what is on screen is the answer to all that was done. */
export function settled(): boolean {
  return document.querySelector('[data-testid="stApp"][data-test-script-state="notRunning"]') !== null;
}
