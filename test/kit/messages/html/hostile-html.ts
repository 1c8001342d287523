import { ATTRIBUTES, ELEMENTS } from '../../../../src/mail/messages/sanitizing/policy.ts'
import { PROPERTIES } from '../../../../src/mail/messages/sanitizing/style.ts'
import { fc } from '../../random/random.ts'

/** Lengths that make something large, tiny, negative, or as large as the window. */
const LENGTHS = '0 1px -40px 40px 3000px -3000px 100000px 100vw 100vh 400% -100% .01em 50em max-content auto'.split(' ')
const COLORS = ['red', '#f00', 'rgba(255,0,0,.5)']
const WORDS: Readonly<Record<string, readonly string[]>> = {
  display:
    'block inline inline-block flex grid contents table table-cell table-row list-item flow-root inline-flex ruby'.split(
      ' ',
    ),
  float: ['left', 'right'],
  clear: ['both'],
  visibility: ['visible', 'hidden', 'collapse'],
  opacity: ['.01', '1'],
  overflow: ['visible', 'hidden', 'scroll', 'auto', 'clip'],
  direction: ['rtl', 'ltr'],
  font: ['3000px/0 serif', '1px monospace', 'italic bold 500px/9 serif'],
  'box-sizing': ['border-box', 'content-box'],
  'vertical-align': ['top', 'bottom', 'super', 'text-top', ...LENGTHS],
  'line-height': ['0', '.01', '40', '3000px', '-1'],
  'white-space': ['nowrap', 'pre', 'pre-wrap', 'break-spaces'],
  'text-align': ['right', 'center', 'justify', 'start'],
  'text-decoration': ['underline', 'overline 900px red', 'line-through wavy red'],
  'text-transform': ['uppercase', 'full-width'],
  'list-style': ['outside square', 'inside decimal', '"LONGMARKER"'],
  'list-style-type': ['disc', 'upper-roman', '"MARKER"'],
  'list-style-position': ['outside', 'inside'],
  'table-layout': ['fixed', 'auto'],
  'border-collapse': ['collapse', 'separate'],
  'caption-side': ['bottom', 'top'],
  'font-weight': ['900'],
  'font-style': ['italic', 'oblique 90deg'],
  'font-variant': ['small-caps'],
  'font-family': ['serif', 'monospace'],
  'font-size': LENGTHS,
  // Left out by the sanitiser, and contained where it is not.
  position: ['absolute', 'fixed', 'sticky', 'relative'],
  inset: LENGTHS,
  'z-index': ['2147483647', '-1'],
  transform: ['scale(50)', 'translate(-500px,-500px)', 'rotate(45deg) scale(9)'],
  translate: ['-500px -500px', '100vw'],
  scale: ['30'],
  zoom: ['20'],
  'box-shadow': ['0 0 0 3000px red', '500px 500px 90px red'],
  'text-shadow': ['0 -300px 0 red', '300px 300px 50px red'],
  outline: ['3000px solid red'],
  'outline-offset': ['300px'],
  filter: ['drop-shadow(-300px -300px 0 red)', 'blur(200px)'],
  'backdrop-filter': ['invert(1)'],
  'mix-blend-mode': ['difference'],
  'border-image': ['linear-gradient(red,red) 30/90px/300px'],
  'writing-mode': ['vertical-rl', 'sideways-lr'],
  columns: ['20px', '9'],
  contain: ['none'],
  cursor: ['none'],
  'pointer-events': ['all'],
  'content-visibility': ['auto'],
  'container-type': ['size'],
  'position-anchor': ['auto'],
  'view-transition-name': ['x'],
}

/** Values for a property: those of its own, else lengths and colours in the form that it takes. */
function chooseValues(property: string): readonly string[] {
  const words = WORDS[property]
  if (words !== undefined) return words
  if (property.includes('color') || property === 'background') return COLORS
  if (property.endsWith('style')) return ['solid', 'double', 'outset']
  if (/^border(?:-(?:top|right|bottom|left))?$/.test(property)) return ['3000px solid red', '40px outset red']
  return LENGTHS
}

const declaration = fc
  .constantFrom(...new Set([...PROPERTIES, ...Object.keys(WORDS)]))
  .chain((property) => fc.constantFrom(...chooseValues(property)).map((value) => `${property}:${value}`))
const important = fc.boolean().map((isImportant) => (isImportant ? '!important' : ''))
const style = fc.array(fc.tuple(declaration, important), { minLength: 1, maxLength: 6 }).map(
  (parts) =>
    `style="${parts
      .map(([text, end]) => text + end)
      .join(';')
      .replaceAll('"', "'")}"`,
)
const attribute = fc
  .tuple(
    fc.constantFrom(...ATTRIBUTES),
    fc.constantFrom('0', '1', '-40', '40', '3000', '100000', '400%', 'left', 'right', 'middle', 'rtl', 'red'),
  )
  .map(([name, value]) => `${name}="${value}"`)
const text = fc.constantFrom('x', 'WWW WWW', 'W'.repeat(300), '\u05d0\u05d1 abc', 'a<br>b', '&#8203;', '')
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs='

/** HTML of nested elements whose styles and attributes try to cover the page around it, with end tags left out here and there. */
export const hostileHtml: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    text,
    fc.tuple(style, attribute).map(([css, other]) => `<img src="${PIXEL}" ${css} ${other}>`),
    fc
      .record({
        name: fc.constantFrom(...ELEMENTS),
        css: fc.option(style, { nil: '', freq: 4 }),
        other: fc.option(attribute, { nil: '' }),
        children: fc.array(tie('node'), { maxLength: 4 }),
        hasEnd: fc.integer({ min: 0, max: 5 }),
      })
      .map(({ name, css, other, children, hasEnd }) => {
        const link = name === 'a' ? 'href="https://x.example/"' : ''
        return `<${name} ${link} ${css} ${other}>${children.join('')}${hasEnd === 0 ? '' : `</${name}>`}`
      }),
  ),
})).node
