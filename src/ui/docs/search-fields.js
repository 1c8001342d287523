/** How the index is made and read. */
export const SEARCH_FIELDS = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['heading', 'page', 'kind', 'path'],
}

/** Of the names of fields and codes, each part is a word too. */
export function searchWords(text) {
  const words = text.split(/[^\p{L}\p{N}_]+/u).filter(Boolean)
  return words.flatMap((word) =>
    [word, ...word.split(/_|(?<=[a-z])(?=[A-Z])/)].filter((part, index, all) => all.indexOf(part) === index),
  )
}
