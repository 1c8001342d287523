// Starts Redoc in the visitor's colour scheme and corrects its markup for assistive technology.
const dark = matchMedia('(prefers-color-scheme: dark)')
dark.addEventListener('change', () => location.reload())

const FONT = 'system-ui, sans-serif'
const MONOSPACE = 'ui-monospace, monospace'

const DARK_COLOURS = {
  primary: { main: '#8fb3ff' },
  text: { primary: '#e6e8eb', secondary: '#aab2bd' },
  border: { dark: '#3a414c', light: '#2c323b' },
  gray: { 50: '#1b1f25', 100: '#232830' },
  success: { main: '#7bd88f' },
  warning: { main: '#e8b84a', contrastText: '#14171b' },
  error: { main: '#ff9a94' },
  responses: {
    success: { color: '#7bd88f', backgroundColor: '#16261b', tabTextColor: '#7bd88f' },
    error: { color: '#ff9a94', backgroundColor: '#2b1a1a', tabTextColor: '#ff9a94' },
    redirect: { color: '#e8b84a', backgroundColor: '#2a2416', tabTextColor: '#e8b84a' },
    info: { color: '#8fb3ff', backgroundColor: '#182033', tabTextColor: '#8fb3ff' },
  },
}

const theme = {
  spacing: { sectionVertical: 24 },
  colors: dark.matches ? DARK_COLOURS : { primary: { main: '#1d4fc4' } },
  typography: {
    fontFamily: FONT,
    headings: { fontFamily: FONT, fontWeight: '600' },
    code: { fontFamily: MONOSPACE, ...(dark.matches && { color: '#ffb3ab', backgroundColor: '#232830' }) },
  },
  sidebar: dark.matches ? { backgroundColor: '#14171b', textColor: '#e6e8eb' } : { backgroundColor: '#f7f8fa' },
  rightPanel: { backgroundColor: dark.matches ? '#1b1f25' : '#222a35' },
  ...(dark.matches && {
    schema: { nestedBackground: '#1b1f25', linesColor: '#5d6b84', typeNameColor: '#aab2bd', typeTitleColor: '#aab2bd' },
  }),
}

const reference = document.getElementById('reference')

/** Redoc uses h5 directly below h2, labels menu items by another text than they show, and has code that only a mouse can scroll. */
function correctMarkup() {
  for (const heading of reference.querySelectorAll(
    'h3:not([aria-level]), h4:not([aria-level]), h5:not([aria-level])',
  )) {
    heading.setAttribute('aria-level', '3')
  }
  for (const code of reference.querySelectorAll('pre:not([tabindex])')) code.tabIndex = 0
  for (const item of reference.querySelectorAll('[role=menuitem][aria-label]')) item.removeAttribute('aria-label')
}

new MutationObserver(correctMarkup).observe(reference, { childList: true, subtree: true })

/** The document is made for a local service. Its commands must work at the address of this one. */
async function documentOfThisService() {
  const response = await fetch('openapi.json')
  if (!response.ok) throw new Error(`openapi.json: ${response.status}`)
  const here = new URL('.', location.href).href.replace(/\/$/, '').replaceAll("'", '%27')
  const text = (await response.text()).replaceAll('http://localhost:8080', here)
  return { ...JSON.parse(text), servers: [{ url: here }] }
}

/** Opens the section of an operation that the address names, but the document does not have: it was renamed or removed. */
function correctAddress({ paths }) {
  const [, section, id] = /^#(tag\/[^/]+)\/operation\/(.+)$/.exec(location.hash) ?? []
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  if (id !== undefined && !operations.some(({ operationId }) => operationId === id)) location.hash = section
}

const options = {
  theme,
  scrollYOffset: 48,
  hideHostname: false,
  pathInMiddlePanel: false,
  requiredPropsFirst: true,
  // Shows the first item of a list, and the command before the body.
  jsonSampleExpandLevel: 3,
  payloadSampleIdx: 1,
  nativeScrollbars: true,
}
documentOfThisService().then(
  (spec) => {
    correctAddress(spec)
    Redoc.init(spec, options, reference, correctMarkup)
  },
  () => {
    reference.innerHTML =
      '<div class="failed" role="alert"><h1>Cannot load openapi.json</h1><p>Wait a minute, then reload this page.</p></div>'
  },
)
