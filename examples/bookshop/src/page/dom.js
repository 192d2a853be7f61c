export const byId = (id) => document.getElementById(id);

/** Copies the element in a template. Returns it, and a function that finds its parts. */
export function copyOf(template) {
  const copy = byId(template).content.firstElementChild.cloneNode(true);
  return [copy, (selector) => copy.querySelector(selector)];
}

/** Runs an action for each event, one at a time, and shows the message of its error. */
export function on(target, type, action) {
  let isRunning = false;
  const run = async (event) => {
    isRunning = true;
    try {
      await action(event);
    } catch (error) {
      show(error.message);
    } finally {
      isRunning = false;
    }
  };
  target.addEventListener(type, (event) => {
    if (type === "submit") event.preventDefault();
    if (!isRunning) void run(event);
  });
}

let timer;

/** Shows a message for a few seconds. Screen readers read it out. */
export function show(text) {
  byId("message").textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => byId("message").replaceChildren(), 8_000);
}

const euros = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" });

export const price = (cents) => euros.format(cents / 100);
