/**
 * Whatever the styles inside ask for, nothing is painted or receives clicks outside of the box of this element, nothing
 * inside changes the element's width or place, and it is not higher than an element around it with a given height.
 * Declarations that a browser does not know are followed by none, or preceded by the next best.
 */
const STYLE = [
  'display:block',
  'contain:content',
  'contain:inline-size layout paint style',
  // The width where the element around takes its own from its content.
  'contain-intrinsic-inline-size:20rem',
  'isolation:isolate',
  'overflow:auto',
  'max-height:100%',
]
  .map((declaration) => `${declaration}!important`)
  .join(';')

// Not a `div`: an item of a list begins inside of an open one past any number of `div`, but not past this.
const START = `<section style="${STYLE}">`
const END = '</section>'

/** The sanitised HTML in an element that it cannot leave and whose style it cannot change. */
export function containHtml(sanitized: string): string {
  return START + sanitized + END
}
