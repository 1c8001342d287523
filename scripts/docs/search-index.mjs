import MiniSearch from 'minisearch'
import { SEARCH_FIELDS, searchWords } from '../../src/ui/docs/search-fields.js'

/** Longer texts of a section add words that nobody searches, and a lot to the size. */
const MAX_TEXT = 1200

/** The index of all sections, as the script of the pages reads it. */
export function searchIndex(pages) {
  const index = new MiniSearch({ ...SEARCH_FIELDS, tokenize: searchWords })
  const entries = pages
    .filter(({ isSearched = true }) => isSearched)
    .flatMap(({ path, title, shortTitle = title, kind, sections, headings }) =>
      sections.map(({ id, heading, text }) => ({
        heading: heading ?? headings.find((one) => one.id === id)?.text ?? shortTitle,
        page: shortTitle,
        kind,
        path: id === '' ? path : `${path}#${id}`,
        text: text.slice(0, MAX_TEXT),
      })),
    )
  index.addAll(entries.map((entry, id) => ({ id, ...entry })))
  return JSON.stringify(index)
}
