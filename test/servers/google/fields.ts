/** A tree of member names; an empty one means everything below. */
interface Mask {
  [name: string]: Mask
}

/** Applies a `fields` parameter such as `nextPageToken,items(id,start/date)`. Undefined when it is malformed. */
export function partial(value: unknown, fields: string | null): unknown {
  if (fields === null) return value
  const tokens = fields.match(/[\w*]+|./g) ?? []
  const mask = list(tokens)
  return tokens.length > 0 || mask === undefined ? undefined : select(value, mask)
}

function select(value: unknown, mask: Mask): unknown {
  if (Object.keys(mask).length === 0 || '*' in mask) return value
  if (Array.isArray(value)) return value.map((item) => select(item, mask))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => Object.hasOwn(mask, name))
  return Object.fromEntries(members.map(([name, inner]) => [name, select(inner, mask[name] ?? {})]))
}

/** Takes `name`, `name/name` and `name(list)`, separated by commas, from the front of the tokens. */
function list(tokens: string[]): Mask | undefined {
  const mask: Mask = {}
  do {
    let inner = mask
    do {
      const name = tokens.shift() ?? ''
      if (!/^[\w*]+$/.test(name)) return undefined
      inner = inner[name] ??= {}
    } while (take(tokens, '/'))
    if (take(tokens, '(')) {
      const below = list(tokens)
      if (below === undefined || !take(tokens, ')')) return undefined
      Object.assign(inner, below)
    }
  } while (take(tokens, ','))
  return mask
}

function take(tokens: string[], token: string): boolean {
  if (tokens[0] !== token) return false
  tokens.shift()
  return true
}
