/** Whether the page has an element with this id. */
export function has(id: string): boolean {
  return document.getElementById(id) !== null;
}

/** The element with this id. The pages that run the code have it. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  return present(document.getElementById(id) as E | null, `#${id}`);
}

/** The first element in another one that matches. */
export function inside(place: ParentNode, selector: string): HTMLElement {
  return present(place.querySelector<HTMLElement>(selector), selector);
}

function present<E>(element: E | null, selector: string): E {
  if (element === null) throw new Error(`The page has no element ${selector}`);
  return element;
}
