// What the pages do beyond showing: copy code, remember the language of samples, search, and lead from old addresses.
const LANGUAGE = 'docs-language'
const root = document.documentElement

for (const frame of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => copy(frame.querySelector('code').textContent, button))
  frame.append(button)
}

async function copy(text, button) {
  const isCopied = await written(text)
  if (!isCopied) getSelection().selectAllChildren(button.parentElement.querySelector('code'))
  button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 2000)
}

/** Pages without TLS have no clipboard; there the code is selected instead. */
async function written(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** The samples name a local service. Beside a service they name that one. */
if (root.dataset.service !== undefined) {
  const here = new URL(root.dataset.service, location.href).href.replace(/\/$/, '').replaceAll("'", '%27')
  for (const code of document.querySelectorAll('.sample code, [data-service-address] code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      texts.currentNode.data = texts.currentNode.data.replaceAll('http://localhost:8080', here)
    }
  }
}

function chooseLanguage(language) {
  for (const input of document.querySelectorAll('.samples input')) input.checked = input.value === language
}
const stored = storage((local) => local.getItem(LANGUAGE))
if (document.querySelector(`.samples input[value="${CSS.escape(stored ?? '')}"]`) !== null) chooseLanguage(stored)
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.samples input')) return
  // What the reader sees stays where it is, although other samples change their height.
  const before = target.getBoundingClientRect().top
  chooseLanguage(target.value)
  target.checked = true
  scrollBy(0, target.getBoundingClientRect().top - before)
  storage((local) => local.setItem(LANGUAGE, target.value))
})

/** Browsers that block cookies throw. */
function storage(use) {
  try {
    return use(localStorage)
  } catch {
    return null
  }
}

/** Addresses of the earlier reference, which was one page. */
const [, tag, operation] = /^#tag\/([^/]+)(?:\/operation\/(.+))?$/.exec(location.hash) ?? []
if (tag !== undefined) {
  const names = [...document.querySelectorAll('#page-menu a')].map((link) => link.href)
  const page = names.find((href) => href.replace(/\.html$/, '').endsWith(`/api/${tag.toLowerCase()}`))
  if (page !== undefined) location.replace(operation === undefined ? page : `${page}#${operation}`)
}

const menu = document.getElementById('page-menu')
menu.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && location.hash === '#page-menu') menu.querySelector('.close').click()
})

/** Marks the section that is read, in the list beside it. */
const links = new Map(
  [...document.querySelectorAll('.contents a, #page-menu .parts a')].map((link) => [link.hash.slice(1), link]),
)
const headings = [...document.querySelectorAll('main [id]')].filter(({ id }) => links.has(id))
let isWaiting = false
addEventListener('scroll', requestMark, { passive: true })
markSection()

function requestMark() {
  if (isWaiting) return
  isWaiting = true
  requestAnimationFrame(() => {
    isWaiting = false
    markSection()
  })
}

function markSection() {
  const read = headings.findLast((heading) => heading.getBoundingClientRect().top < 120) ?? headings[0]
  for (const [id, link] of links) link.classList.toggle('read', id === read?.id)
}

// The search is loaded by the first touch.
const search = document.querySelector('.search')
const input = search.querySelector('input')
search.hidden = false
input.addEventListener('focus', loadSearch, { once: true })
async function loadSearch() {
  try {
    const { startSearch } = await import('./search.js')
    await startSearch(search, new URL(root.dataset.search, location.href))
  } catch {
    search.querySelector('[role=status]').textContent = 'The search cannot be loaded. Reload this page.'
    search.querySelector('[role=status]').classList.remove('hidden')
    search.querySelector('.results').hidden = false
  }
}
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.matches('input, textarea, select')) return
  event.preventDefault()
  input.focus()
  input.select()
})
