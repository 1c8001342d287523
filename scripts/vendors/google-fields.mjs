// Checks the parameter `fields`, which selects members of a response: `messages(id,payload/headers),nextPageToken`.
import { resolveSchema } from './google-schema.mjs'

export function checkFieldMask(api, response, mask, add) {
  const rest = checkSelection(api, response, mask, add)
  if (rest !== '') add(`the fields mask ends early at ${rest.slice(0, 20)}`, mask)
}

/** Reads selections until the closing parenthesis or the end, and returns the text after them. */
function checkSelection(api, schema, text, add) {
  let rest = text
  for (;;) {
    const [path = ''] = /^[\w*]+(\/[\w*]+)*/.exec(rest) ?? []
    if (path === '') {
      add(`the fields mask is unreadable at ${rest.slice(0, 20)}`, text)
      return ''
    }
    const member = path.split('/').reduce((from, name) => findMember(api, from, name, add), schema)
    rest = rest.slice(path.length)
    if (rest.startsWith('(')) {
      rest = checkSelection(api, member, rest.slice(1), add)
      if (!rest.startsWith(')')) add('the fields mask has an open parenthesis', text)
      rest = rest.slice(1)
    }
    if (!rest.startsWith(',')) return rest
    rest = rest.slice(1)
  }
}

/** Undefined below `*` and below what is unknown. */
function findMember(api, schema, name, add) {
  if (schema === undefined || name === '*') return undefined
  let object = resolveSchema(api, schema)
  while (object.type === 'array') object = resolveSchema(api, object.items)
  const member = object.properties?.[name] ?? object.additionalProperties
  if (member === undefined) add(`the fields mask names the unknown ${name}`)
  return member
}
