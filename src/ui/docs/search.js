// The search in the header: results below the field, as links that the arrow keys move between.
import MiniSearch from 'minisearch'
import { SEARCH_FIELDS, searchWords } from './search-fields.js'

const SHOWN = 12

/** @param {HTMLElement} search the element with the field @param {URL} url of the index, which is beside the first page */
export async function startSearch(search, url) {
  const input = search.querySelector('input')
  const results = search.querySelector('.results')
  const list = results.querySelector('ol')
  const status = results.querySelector('[role=status]')
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  const index = MiniSearch.loadJSON(await response.text(), { ...SEARCH_FIELDS, tokenize: searchWords })
  const isStatic = location.pathname.endsWith('.html') || document.documentElement.dataset.service === undefined

  function address(path) {
    const [page, hash] = path.split('#')
    const file = isStatic ? `${page === '' ? 'index' : page}.html` : page
    const target = new URL(file === '' ? url.href.replace(/\/[^/]*$/, '') : file, url)
    if (hash !== undefined) target.hash = hash
    return target.href
  }

  function show() {
    const text = input.value.trim()
    results.hidden = text === ''
    if (text === '') return
    const found = index.search(text, {
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      boost: { heading: 4, page: 2 },
      // Most readers use the service and do not change it.
      boostDocument: (_id, _term, { kind }) => (kind === 'Project' ? 0.3 : 1),
    })
    // A code or a name that is complete comes first.
    const isExact = ({ heading }) => heading.toLowerCase() === text.toLowerCase()
    const sorted = [...found.filter(isExact), ...found.filter((one) => !isExact(one))]
    list.replaceChildren(...sorted.slice(0, SHOWN).map(item))
    status.textContent = found.length === 1 ? '1 result' : `${found.length} results`
    status.classList.toggle('hidden', found.length > 0)
    if (found.length === 0) status.textContent = `Nothing found for “${text}”`
  }

  function item({ heading, page, kind, path }) {
    const link = document.createElement('a')
    link.href = address(path)
    const name = document.createElement('span')
    name.textContent = heading
    const place = document.createElement('small')
    place.textContent = heading === page ? kind : `${kind} · ${page}`
    link.append(name, place)
    const entry = document.createElement('li')
    entry.append(link)
    return entry
  }

  function move(step) {
    const links = [...list.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement) + step
    if (at < 0) input.focus()
    else links[Math.min(at, links.length - 1)]?.focus()
  }

  input.addEventListener('input', show)
  search.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(document.activeElement === input ? 0 : -1)
    else if (event.key === 'Enter' && document.activeElement === input) list.querySelector('a')?.click()
    else if (event.key === 'Escape') {
      results.hidden = true
      input.focus()
    } else return
    event.preventDefault()
  })
  // A link to a section of this page loads nothing.
  list.addEventListener('click', () => {
    results.hidden = true
  })
  addEventListener('pointerdown', ({ target }) => {
    if (!search.contains(target)) results.hidden = true
  })
  input.addEventListener('focus', show)
  show()
}
