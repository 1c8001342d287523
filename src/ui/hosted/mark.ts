/** The mark of Posthorn on its own pages. Pages with the brand of an application show that brand instead. */

/** A horn, as lines on a 24 px grid: its coil, and its tube with the bell. */
export const HORN = {
  coil: { cx: 10, cy: 13.5, r: 5 },
  tube: 'M2.5 8.5H14a4 4 0 0 0 3.5-2l1.5-2.5v12l-1.5-2.5A4 4 0 0 0 15 12',
} as const

/** The blue of Posthorn: on its own pages, and on others until they have a colour of their own. */
export const BLUE = '#4263eb'

/** SVG in the colour of the text. Decoration: the name beside it carries the meaning. */
export function hornIcon(): string {
  return `<svg viewBox="0 0 24 24" width="24" height="24" stroke="currentColor" ${LINES} aria-hidden="true" focusable="false">${drawing()}</svg>`
}

/** A `data:` URL, so that the icon of a page is no request. */
export function hornFavicon(): string {
  const tile = `<rect x="-4" y="-4" width="32" height="32" rx="8" fill="${BLUE}"/>`
  const image = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 32 32">${tile}<g stroke="#fff" ${LINES}>${drawing()}</g></svg>`
  return `data:image/svg+xml,${encodeURIComponent(image)}`
}

const LINES = 'fill="none" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'

function drawing(): string {
  const { cx, cy, r } = HORN.coil
  return `<circle cx="${cx}" cy="${cy}" r="${r}"/><path d="${HORN.tube}"/>`
}
